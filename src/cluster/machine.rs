use std::fs;

use tokio::time::Instant;

pub(crate) use crate::survey::MachineLoad;

/// Measures how busy the machine is, from one look to the next.
#[derive(Debug, Default)]
pub(super) struct MachineMonitor {
    before: Option<(Instant, Counters)>,
}

/// Counters of Linux since its start (proc(5)); on other systems nothing is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counters {
    /// In ticks.
    busy: u64,
    all: u64,
    /// Of all network interfaces but loopback, in bytes.
    network: u64,
    /// Read and written by all whole disks, in bytes.
    disk: u64,
}

impl MachineMonitor {
    /// The load of the machine since the last look.
    pub(super) fn sample(&mut self) -> MachineLoad {
        let (now, counters) = (Instant::now(), Counters::read());
        let memory = fs::read_to_string("/proc/meminfo").map(|text| memory_in_use(&text)).unwrap_or_default();
        let before = self.before.replace((now, counters));
        let mut load = MachineLoad { memory, ..MachineLoad::default() };
        if let Some((previous_time, before)) = before {
            let seconds = now.duration_since(previous_time).as_secs_f64().max(1e-3);
            let since = |now: u64, before: u64| now.saturating_sub(before) as f64;
            load.cpu = since(counters.busy, before.busy) / since(counters.all, before.all).max(1.0);
            load.network_bytes_per_second = since(counters.network, before.network) / seconds;
            load.disk_bytes_per_second = since(counters.disk, before.disk) / seconds;
        }
        load
    }
}

impl Counters {
    fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let (busy, all) = cpu_ticks(&text("/proc/stat"));
        Self {
            busy,
            all,
            network: network_bytes(&text("/proc/net/dev")),
            disk: disk_bytes(&text("/proc/diskstats")),
        }
    }
}

/// Busy ticks and all ticks, from the line `cpu`: user, nice, system, idle, iowait, …
fn cpu_ticks(stat: &str) -> (u64, u64) {
    let Some(line) = stat.lines().find(|line| line.starts_with("cpu ")) else { return (0, 0) };
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
    let all: u64 = ticks.iter().sum();
    let idle: u64 = ticks.iter().skip(3).take(2).sum();
    (all - idle, all)
}

/// The share of the memory that is in use, from 0 to 1.
fn memory_in_use(meminfo: &str) -> f64 {
    let kilobytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(1)?.parse::<f64>().ok()
    };
    match (kilobytes("MemTotal"), kilobytes("MemAvailable")) {
        (Some(total), Some(available)) if total > 0.0 => 1.0 - available / total,
        _ => 0.0,
    }
}

fn network_bytes(dev: &str) -> u64 {
    let lines = dev.lines().filter_map(|line| line.split_once(':'));
    let others = lines.filter(|(name, _)| name.trim() != "lo");
    others
        .flat_map(|(_, numbers)| {
            let numbers: Vec<u64> = numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            [numbers.first().copied(), numbers.get(8).copied()]
        })
        .flatten()
        .sum()
}

/// Sectors of 512 bytes; partitions are counted with their disks.
fn disk_bytes(diskstats: &str) -> u64 {
    let mut sum = 0;
    let mut disk: Option<String> = None;
    for line in diskstats.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (Some(name), Some(read), Some(written)) = (words.get(2), words.get(5), words.get(9)) else {
            continue;
        };
        let is_other = ["loop", "ram", "dm-", "zram"].iter().any(|kind| name.starts_with(kind));
        if is_other || disk.as_ref().is_some_and(|disk| name.starts_with(disk.as_str())) {
            continue;
        }
        disk = Some((*name).to_owned());
        sum += read.parse::<u64>().unwrap_or(0) + written.parse::<u64>().unwrap_or(0);
    }
    sum * 512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_counts_is_read() {
        assert_eq!(cpu_ticks("cpu  100 10 50 700 40 0 0 0 5 5\ncpu0 1 1 1 1\n"), (160, 900));
        assert_eq!(cpu_ticks(""), (0, 0));
        assert!(
            (memory_in_use("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n") - 0.75).abs() < 1e-9
        );
        assert_eq!(memory_in_use("nothing"), 0.0);
        let dev =
            "Inter-| Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0: 100 1 0 0 0 0 0 0 20 1 0\n";
        assert_eq!(network_bytes(dev), 120);
        let disks =
            "254 0 vda 1 0 10 0 1 0 20 0 0\n254 1 vda1 1 0 9 0 1 0 9 0 0\n7 0 loop0 1 0 5 0 0 0 5 0\n";
        assert_eq!(disk_bytes(disks), 30 * 512);
    }
}
