/// A coverage or load rate at every depth, with what each sampling unit contributes to it.
///
/// The sums are of what lies deeper: `beyond[d]` of `total_amount` lies below depth d, and the coverage is
/// one minus that share. A unit contributes its own whole and the part of it below each depth.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct SampledRate {
    pub(in crate::analysis) total_amount: f64,
    pub(in crate::analysis) beyond: Vec<f64>,
    /// Units that have something below each depth.
    units_below: Vec<u32>,
    /// Units that have everything below each depth.
    units_all_below: Vec<u32>,
    /// Units that have anything.
    pub(in crate::analysis) units: u32,
    /// The whole of each unit, in the order in which the units were added.
    pub(in crate::analysis) unit_totals: Vec<f64>,
    /// The index in `levels` where the levels of each unit begin, and one more for the end.
    starts: Vec<usize>,
    /// The amount of each unit at each level.
    levels: Vec<f64>,
    strata: Vec<Moments>,
}

/// Sums over the units of a stratum: `w` is a unit's whole, `b` the part below a depth.
#[derive(Clone, Debug)]
struct Moments {
    units: f64,
    w: f64,
    ww: f64,
    b: Vec<f64>,
    bw: Vec<f64>,
    bb: Vec<f64>,
}

impl SampledRate {
    pub(in crate::analysis) fn new(depths: usize) -> Self {
        let (units_below, units_all_below) = (vec![0; depths], vec![0; depths]);
        let beyond = vec![0.0; depths];
        let (unit_totals, starts, levels, strata) = (Vec::new(), vec![0], Vec::new(), Vec::new());
        Self {
            total_amount: 0.0,
            beyond,
            units_below,
            units_all_below,
            units: 0,
            unit_totals,
            starts,
            levels,
            strata,
        }
    }

    pub(in crate::analysis) fn begin_stratum(&mut self) {
        let zeros = vec![0.0; self.beyond.len()];
        let (b, bw, bb) = (zeros.clone(), zeros.clone(), zeros);
        self.strata.push(Moments { units: 0.0, w: 0.0, ww: 0.0, b, bw, bb });
    }

    /// Adds a unit to the last stratum. `beyond` may end at the depth below which nothing is left.
    pub(in crate::analysis) fn add(&mut self, total_amount: f64, beyond: &[f64]) {
        let Some(stratum) = self.strata.last_mut() else { return };
        stratum.units += 1.0;
        stratum.w += total_amount;
        stratum.ww += total_amount * total_amount;
        for (depth, below) in beyond.iter().enumerate().take(self.beyond.len()) {
            stratum.b[depth] += below;
            stratum.bw[depth] += below * total_amount;
            stratum.bb[depth] += below * below;
            self.units_below[depth] += u32::from(*below > 0.0);
            self.units_all_below[depth] += u32::from(total_amount > 0.0 && *below >= total_amount);
        }
        self.units += u32::from(total_amount > 0.0);
        self.unit_totals.push(total_amount);
        let above = std::iter::once(&total_amount).chain(beyond);
        self.levels.extend(above.zip(beyond).map(|(above, below)| above - below));
        self.starts.push(self.levels.len());
    }

    /// The amount of a unit at each level.
    pub(in crate::analysis) fn levels_of(&self, unit: usize) -> &[f64] {
        &self.levels[self.starts[unit]..self.starts[unit + 1]]
    }

    /// By level, the part of the whole that no unit has alone.
    pub(in crate::analysis) fn shared(&self) -> Vec<f64> {
        let mut above = self.total_amount;
        let mut shared: Vec<f64> =
            self.beyond.iter().map(|below| std::mem::replace(&mut above, *below) - below).collect();
        for unit in 0..self.unit_totals.len() {
            shared.iter_mut().zip(self.levels_of(unit)).for_each(|(remainder, own)| *remainder -= own);
        }
        shared
    }

    /// Uses the sums over the units as the total.
    pub(in crate::analysis) fn sum_up(&mut self) {
        for stratum in &self.strata {
            self.total_amount += stratum.w;
            for (sum, below) in self.beyond.iter_mut().zip(&stratum.b) {
                *sum += below;
            }
        }
    }

    pub(in crate::analysis) fn units_below(&self, depth: usize) -> u32 {
        self.units_below[depth]
    }

    /// The number of units that have something down to a depth.
    pub(in crate::analysis) fn units_above(&self, depth: usize) -> u32 {
        self.units - self.units_all_below[depth]
    }

    /// The share that lies below a depth; 1 if there is nothing at all, since nothing is covered.
    pub(in crate::analysis) fn missing(&self, depth: usize) -> f64 {
        if self.total_amount > 0.0 { self.beyond[depth] / self.total_amount } else { 1.0 }
    }

    /// The standard error of that share by linearisation, with units drawn within each stratum. Every unit
    /// counts with its part below the depth, minus the part that it would have below if it were like the
    /// whole.
    pub(in crate::analysis) fn spread(&self, depth: usize) -> f64 {
        let missing = self.missing(depth);
        let variance: f64 = self.strata.iter().map(|stratum| stratum.variance(depth, missing)).sum();
        if self.total_amount > 0.0 { variance.max(0.0).sqrt() / self.total_amount } else { 0.0 }
    }
}

impl Moments {
    fn variance(&self, depth: usize, missing: f64) -> f64 {
        let squares = missing * missing * self.ww - 2.0 * missing * self.bw[depth] + self.bb[depth];
        if self.units < 2.0 {
            return squares;
        }
        let sum = missing * self.w - self.b[depth];
        (squares - sum * sum / self.units) * self.units / (self.units - 1.0)
    }
}
