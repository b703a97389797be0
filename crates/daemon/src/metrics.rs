//! Metrics, each declared once: [`metrics!`](crate::metrics!) makes the struct, the registration and the table that
//! the reference page is generated from, so that none of them can miss a metric.

use std::sync::atomic::{AtomicI64, AtomicU64};

use prometheus_client::encoding::text;
use prometheus_client::metrics::family::Family;
pub use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::{TypedMetric, counter, gauge};
use prometheus_client::registry::Metric;
pub use prometheus_client::registry::Registry;

// Spelled out, because the defaults of the library depend on the platform.
pub type Counter = counter::Counter<u64, AtomicU64>;
pub type Gauge = gauge::Gauge<i64, AtomicI64>;

/// Name, kind, labels, meaning.
pub type Row = (&'static str, &'static str, &'static [&'static str], &'static str);

/// A metric that has one value for each combination of its labels.
#[derive(Debug)]
pub struct Labelled<M, const N: usize> {
    labels: [&'static str; N],
    values: Family<[(&'static str, String); N], M>,
}

impl<M: Metric + TypedMetric + Clone + Default, const N: usize> Labelled<M, N> {
    pub fn register(registry: &mut Registry, name: &str, help: &str, labels: [&'static str; N]) -> Self {
        Self { labels, values: register(registry, name, help, Family::default()) }
    }

    /// The metric for these values of the labels, in the order in which the labels are declared.
    pub fn with(&self, values: [&str; N]) -> M {
        self.values.get_or_create_owned(&self.pairs(values))
    }

    pub fn remove(&self, values: [&str; N]) {
        self.values.remove(&self.pairs(values));
    }

    pub fn clear(&self) {
        self.values.clear();
    }

    fn pairs(&self, values: [&str; N]) -> [(&'static str, String); N] {
        std::array::from_fn(|i| (self.labels[i], values[i].to_string()))
    }
}

pub fn register<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    // The encoder adds the suffix to counters by itself.
    registry.register(name.strip_suffix("_total").unwrap_or(name), help, metric.clone());
    metric
}

/// The current values, as OpenMetrics.
pub fn encode(registry: &Registry) -> String {
    let mut text = String::new();
    if let Err(error) = text::encode(&mut text, registry) {
        tracing::error!(error = &error as &dyn std::error::Error, "cannot encode the metrics");
    }
    text
}

/// Declares `struct Metrics` with `Metrics::register()` and `Metrics::encode()`, and `TABLE` for the reference page.
/// A line is `field: kind "name" [labels] "help";`, and a histogram has its buckets in parentheses after the kind.
#[macro_export]
macro_rules! metrics {
    ($($vis:vis $field:ident: $kind:ident $(($($bucket:literal),+))? $name:literal $labels:tt $help:literal;)+) => {
        pub const TABLE: &[$crate::metrics::Row] = &[$(($name, stringify!($kind), &$labels, $help)),+];

        #[derive(Debug)]
        pub struct Metrics {
            registry: $crate::metrics::Registry,
            $($vis $field: $crate::metrics!(@type $kind $labels),)+
        }

        impl Metrics {
            fn register() -> Self {
                let mut registry = $crate::metrics::Registry::default();
                Self {
                    $($field: $crate::metrics!(
                        @register (&mut registry, $name, $help) $(($($bucket),+))? $labels
                    ),)+
                    registry,
                }
            }

            fn encode(&self) -> String {
                $crate::metrics::encode(&self.registry)
            }
        }
    };

    // Steps of the rule above. A metric without labels has its own type, not a family without labels, because it is
    // served as 0 from the start; one with labels is served once it has a value.
    (@type gauge []) => { $crate::metrics::Gauge };
    (@type counter []) => { $crate::metrics::Counter };
    (@type histogram []) => { $crate::metrics::Histogram };
    (@type $kind:ident $labels:tt) => {
        $crate::metrics::Labelled<$crate::metrics!(@type $kind []), { $labels.len() }>
    };

    (@register ($($to:tt)+) []) => { $crate::metrics::register($($to)+, Default::default()) };
    (@register ($($to:tt)+) ($($bucket:literal),+) []) => {
        $crate::metrics::register($($to)+, $crate::metrics::Histogram::new([$($bucket),+]))
    };
    (@register ($($to:tt)+) $labels:tt) => { $crate::metrics::Labelled::register($($to)+, $labels) };
}
