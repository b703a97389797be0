//! Things by name, kept in one row: a decision looks at all of them at once, and nothing is copied for it.

use std::collections::HashMap;

#[derive(Debug)]
pub struct Shelf<T> {
    row: Vec<T>,
    names: Vec<String>,
    places: HashMap<String, usize>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { row: Vec::new(), names: Vec::new(), places: HashMap::new() }
    }
}

impl<T: PartialEq> Shelf<T> {
    pub fn row(&self) -> &[T] {
        &self.row
    }

    pub fn get(&self, name: &str) -> Option<&T> {
        self.places.get(name).map(|place| &self.row[*place])
    }

    /// Whether that is news.
    pub fn put(&mut self, name: String, thing: T) -> bool {
        match self.places.get(&name) {
            Some(place) if self.row[*place] == thing => false,
            Some(place) => {
                self.row[*place] = thing;
                true
            }
            None => {
                self.places.insert(name.clone(), self.row.len());
                self.names.push(name);
                self.row.push(thing);
                true
            }
        }
    }

    pub fn remove(&mut self, name: &str) -> Option<T> {
        let place = self.places.remove(name)?;
        self.names.swap_remove(place);
        let thing = self.row.swap_remove(place);
        if let Some(moved) = self.names.get(place) {
            self.places.insert(moved.clone(), place);
        }
        Some(thing)
    }

    pub fn replace(&mut self, things: Vec<(String, T)>) {
        *self = Self::default();
        for (name, thing) in things {
            self.put(name, thing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_after_others_went() {
        let mut shelf = Shelf::default();
        for (name, thing) in [("a", 1), ("b", 2), ("c", 3)] {
            assert!(shelf.put(name.into(), thing));
        }
        assert!(!shelf.put("b".into(), 2) && shelf.put("b".into(), 5));
        assert_eq!(shelf.remove("a"), Some(1));
        assert_eq!(shelf.remove("a"), None);
        assert_eq!((shelf.get("b"), shelf.get("c")), (Some(&5), Some(&3)));
        assert_eq!(shelf.remove("c"), Some(3));
        assert_eq!(shelf.row(), [5]);
        shelf.replace(vec![("z".into(), 9)]);
        assert_eq!((shelf.get("b"), shelf.get("z")), (None, Some(&9)));
    }
}
