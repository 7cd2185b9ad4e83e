//! Parallel work on all cores, with results in a fixed order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::prelude::*;

/// Passes each item to `work`, on as many threads as there are cores, and the results to `take`, one after
/// the other in the order of the items, so that no sum depends on the number of threads. At most one result
/// per thread is in memory. The first error, in the same order, ends the work.
pub(in crate::analysis) fn in_turn<I, T, E: Send>(
    items: impl Iterator<Item = I> + Send,
    work: impl Fn(I) -> Result<T, E> + Sync,
    take: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<(), E> {
    let waiting = Mutex::new(PendingItems { items, next: 0 });
    let counter =
        ResultCounter { state: Mutex::new(Served { take, next: 0, ended: Ok(()) }), turn: Condvar::new() };
    let serve = || {
        // In a closure, so that no thread holds the lock while it works.
        let pull = || locked(&waiting).pull();
        while let Some((number, item)) = pull() {
            let turn = OrderGuard { counter: &counter, number };
            if !turn.hand_over(work(item)) {
                break;
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(serve)));
        serve();
    });
    counter.state.into_inner().unwrap_or_else(PoisonError::into_inner).ended
}

/// The results of `work` for each number, computed on as many threads as there are cores.
pub(in crate::analysis) fn parallel_array<const N: usize, T: Send>(
    work: impl Fn(usize) -> T + Sync,
) -> [T; N] {
    let mut results = [const { None }; N];
    results.par_iter_mut().enumerate().for_each(|(number, slot)| *slot = Some(work(number)));
    results.map(|value| value.expect("every place was filled"))
}

/// The maximum number of threads. A row group of the largest table takes some fifty megabytes of memory, and
/// each thread has one.
const MAX_THREADS: usize = 8;

/// The items that no thread has taken yet.
struct PendingItems<I> {
    items: I,
    next: u64,
}

impl<I: Iterator> PendingItems<I> {
    fn pull(&mut self) -> Option<(u64, I::Item)> {
        let item = self.items.next()?;
        self.next += 1;
        Some((self.next - 1, item))
    }
}

/// The point where threads hand over their results.
struct ResultCounter<F, E> {
    state: Mutex<Served<F, E>>,
    turn: Condvar,
}

struct Served<F, E> {
    take: F,
    next: u64,
    ended: Result<(), E>,
}

/// The turn of one item. It is released in any case, so that no thread waits for a thread that has panicked.
struct OrderGuard<'a, F, E> {
    counter: &'a ResultCounter<F, E>,
    number: u64,
}

impl<F, E> OrderGuard<'_, F, E> {
    /// Waits for the turn and hands over the result. Returns whether more results are wanted.
    fn hand_over<T>(&self, result: Result<T, E>) -> bool
    where
        F: FnMut(T) -> Result<(), E>,
    {
        let mut state = self.wait();
        if state.ended.is_ok() {
            state.ended = result.and_then(|result| (state.take)(result));
        }
        state.ended.is_ok()
    }

    fn wait(&self) -> MutexGuard<'_, Served<F, E>> {
        let is_early = |state: &mut Served<F, E>| state.next != self.number;
        let state = locked(&self.counter.state);
        self.counter.turn.wait_while(state, is_early).unwrap_or_else(PoisonError::into_inner)
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
