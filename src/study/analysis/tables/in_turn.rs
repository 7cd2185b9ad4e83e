//! Work on all cores whose results come in one order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::prelude::*;

/// Gives each thing to `work`, on as many threads as there are cores, and what comes of it to `take`, one after the other
/// in the order of the things: nothing that is added up there depends on the number of threads. As many results are in
/// memory as there are threads. The first error, in that order too, is the end.
pub(in crate::analysis) fn in_turn<I, T, E: Send>(
    things: impl Iterator<Item = I> + Send,
    work: impl Fn(I) -> Result<T, E> + Sync,
    take: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let waiting = Mutex::new(PendingItems { things, next: 0 });
    let counter =
        ResultCounter { served: Mutex::new(Served { take, next: 0, ended: Ok(()) }), turn: Condvar::new() };
    let serve = || {
        // In a closure, so that nobody holds the lock while at work.
        let pull = || locked(&waiting).pull();
        while let Some((number, thing)) = pull() {
            let turn = OrderGuard { counter: &counter, number };
            if !turn.hand_over(work(thing)) {
                break;
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(serve)));
        serve();
    });
    counter.served.into_inner().unwrap_or_else(PoisonError::into_inner).ended
}

/// What `work` makes of each number, on as many threads as there are cores.
pub(in crate::analysis) fn each_of<const N: usize, T: Send>(work: impl Fn(usize) -> T + Sync) -> [T; N] {
    let mut made = [const { None }; N];
    made.par_iter_mut().enumerate().for_each(|(number, place)| *place = Some(work(number)));
    made.map(|one| one.expect("every place was filled"))
}

/// A row group of the largest table is some fifty megabytes in memory, and each thread has one.
const MOST_THREADS: usize = 8;

/// What nobody works on yet.
struct PendingItems<I> {
    things: I,
    next: u64,
}

impl<I: Iterator> PendingItems<I> {
    fn pull(&mut self) -> Option<(u64, I::Item)> {
        let thing = self.things.next()?;
        self.next += 1;
        Some((self.next - 1, thing))
    }
}

/// Where results are handed over.
struct ResultCounter<F, E> {
    served: Mutex<Served<F, E>>,
    turn: Condvar,
}

struct Served<F, E> {
    take: F,
    next: u64,
    ended: Result<(), E>,
}

/// The place in the line of one thing. It is given up in any case, so that nobody waits for a thread that has panicked.
struct OrderGuard<'a, F, E> {
    counter: &'a ResultCounter<F, E>,
    number: u64,
}

impl<F, E> OrderGuard<'_, F, E> {
    /// Waits for the turn and gives the result; says whether more is wanted.
    fn hand_over<T>(&self, result: Result<T, E>) -> bool
    where
        F: FnMut(T) -> Result<(), E>,
    {
        let mut served = self.wait();
        if served.ended.is_ok() {
            served.ended = result.and_then(|result| (served.take)(result));
        }
        served.ended.is_ok()
    }

    fn wait(&self) -> MutexGuard<'_, Served<F, E>> {
        let is_early = |served: &mut Served<F, E>| served.next != self.number;
        let served = locked(&self.counter.served);
        self.counter.turn.wait_while(served, is_early).unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F, E> Drop for OrderGuard<'_, F, E> {
    fn drop(&mut self) {
        self.wait().next += 1;
        self.counter.turn.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_things() {
        let mut taken = Vec::new();
        let slow_first = |number: u64| {
            (0..(100 - number) * 1000).for_each(|step| _ = std::hint::black_box(step));
            Ok::<u64, ()>(number * 2)
        };
        let keep = |result| {
            taken.push(result);
            Ok(())
        };
        in_turn(0..100, slow_first, keep).unwrap();
        assert_eq!(taken, (0..100).map(|number| number * 2).collect::<Vec<_>>());
    }

    #[test]
    fn two_things_are_worked_on_at_the_same_time() {
        if thread::available_parallelism().map_or(1, usize::from) < 2 {
            return;
        }
        let (here, news) = (Mutex::new(0), Condvar::new());
        let meet = |_: u64| {
            let mut count = locked(&here);
            *count += 1;
            news.notify_all();
            let alone = |count: &mut i32| *count < 2;
            let (_count, waited) = news.wait_timeout_while(count, Duration::from_mins(1), alone).unwrap();
            Ok::<bool, ()>(!waited.timed_out())
        };
        let mut met = Vec::new();
        let keep = |has_met| {
            met.push(has_met);
            Ok(())
        };
        in_turn(0..2, meet, keep).unwrap();
        assert_eq!(met, [true, true]);
    }

    #[test]
    fn the_first_error_is_the_end() {
        let mut taken = 0;
        let work = |number: u64| if number % 10 == 7 { Err(number) } else { Ok(()) };
        let count = |()| {
            taken += 1;
            Ok(())
        };
        assert_eq!(in_turn(0..100, work, count), Err(7));
        assert_eq!(taken, 7);
        assert_eq!(in_turn(0..100, Ok, |number| if number == 3 { Err(3) } else { Ok(()) }), Err(3));
    }

    #[test]
    fn a_panic_ends_all_threads() {
        let work = |number: u64| {
            assert!(number != 7, "as if there were a mistake");
            Ok::<(), ()>(())
        };
        let run = || in_turn(0..100, work, |()| Ok(()));
        std::panic::catch_unwind(run).unwrap_err();
    }
}
