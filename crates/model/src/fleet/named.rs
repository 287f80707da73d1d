//! A map of objects of one kind by name, for millions of objects.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::object::{Object, Spec};

/// Objects of one kind, sorted by name.
///
/// The objects are in chunks, and clones share the chunks. So a clone increments one counter for each chunk, and a change copies one chunk.
/// A comparison of two maps skips chunks that both share ([`Named::changes`]).
/// An object takes only the memory of its pointer, because the object contains its name.
#[derive(Debug)]
pub struct Named<S: Spec> {
    /// Each chunk has at least one and at most [`CHUNK_MAX`] objects.
    chunks: Vec<Chunk<S>>,
    len: usize,
}

type Chunk<S> = Arc<Vec<Arc<Object<S>>>>;

/// With this size, a million objects are two thousand chunks. Copying one chunk and cloning all of them both take microseconds.
const CHUNK_MAX: usize = 512;

/// An object before and after a change. None where it did not exist.
pub type Changed<'a, S> = (Option<&'a Arc<Object<S>>>, Option<&'a Arc<Object<S>>>);

impl<S: Spec> Named<S> {
    /// The number of objects.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The object with this name.
    pub fn get(&self, name: &(impl Borrow<str> + ?Sized)) -> Option<&Arc<Object<S>>> {
        let (chunk, at) = self.position(name.borrow()).ok()?;
        self.chunks.get(chunk)?.get(at)
    }

    /// Whether there is an object with this name.
    pub fn contains_key(&self, name: &(impl Borrow<str> + ?Sized)) -> bool {
        self.get(name).is_some()
    }

    /// All objects, sorted by name.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Arc<Object<S>>> + Clone {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// The names of all objects, sorted.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &S::Name> + Clone {
        self.values().map(|object| &object.name)
    }

    /// All objects with their names, sorted by name.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&S::Name, &Arc<Object<S>>)> + Clone {
        self.values().map(|object| (&object.name, object))
    }

    /// Inserts an object. Returns the object that it replaces, if any.
    pub fn insert(&mut self, object: Arc<Object<S>>) -> Option<Arc<Object<S>>> {
        let (chunk, at) = match self.position(name(&object)) {
            Ok((chunk, at)) => {
                let slot = Arc::make_mut(self.chunks.get_mut(chunk)?).get_mut(at)?;
                return Some(std::mem::replace(slot, object));
            }
            Err(place) => place,
        };
        self.len += 1;
        let is_end = chunk + 1 >= self.chunks.len();
        match self.chunks.get_mut(chunk) {
            // Objects that arrive in order fill one chunk after the other.
            Some(found) if found.len() < CHUNK_MAX => Arc::make_mut(found).insert(at, object),
            Some(found) if !is_end || at < found.len() => {
                let found = Arc::make_mut(found);
                let mut behind = found.split_off(CHUNK_MAX / 2);
                let (half, at) = if at <= found.len() { (found, at) } else { (&mut behind, at - CHUNK_MAX / 2) };
                half.insert(at, object);
                self.chunks.insert(chunk + 1, Arc::new(behind));
            }
            _ => self.chunks.push(Arc::new(vec![object])),
        }
        None
    }

    /// Removes the object with this name, and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Arc<Object<S>>> {
        let (chunk, at) = self.position(name).ok()?;
        let found = Arc::make_mut(self.chunks.get_mut(chunk)?);
        let object = found.remove(at);
        if found.is_empty() {
            self.chunks.remove(chunk);
        }
        self.len -= 1;
        Some(object)
    }

    /// The objects whose content differs from `earlier`, by name. If one map is a changed clone of the other, the time is linear in the number of
    /// chunks and changes.
    pub fn changes<'a>(&'a self, earlier: &'a Self) -> Vec<Changed<'a, S>> {
        let (mut before, mut after) = (Cursor::new(earlier), Cursor::new(self));
        let mut changes = Vec::new();
        loop {
            if before.skips_with(&after) {
                (before, after) = (before.next_chunk(), after.next_chunk());
                continue;
            }
            let order = match (before.object(), after.object()) {
                (None, None) => return changes,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => Ordering::Less,
                (Some(old), Some(new)) => old.name.cmp(&new.name),
            };
            let old = before.object().filter(|_| order.is_le());
            let new = after.object().filter(|_| order.is_ge());
            if old.map(|object| object.digest) != new.map(|object| object.digest) {
                changes.push((old, new));
            }
            before = if order.is_le() { before.next() } else { before };
            after = if order.is_ge() { after.next() } else { after };
        }
    }

    /// The position of the object with this name, or the position where it would be inserted.
    fn position(&self, name: &str) -> Result<(usize, usize), (usize, usize)> {
        // Objects that arrive in order are appended.
        if let Some(last) = self.chunks.last()
            && last.last().is_some_and(|object| self::name(object) < name)
        {
            return Err((self.chunks.len() - 1, last.len()));
        }
        let is_at_or_before = |chunk: &Chunk<S>| chunk.first().is_some_and(|first| self::name(first) <= name);
        let chunk = self.chunks.partition_point(is_at_or_before).saturating_sub(1);
        let Some(found) = self.chunks.get(chunk) else { return Err((chunk, 0)) };
        let at = found.binary_search_by(|object| self::name(object).cmp(name));
        at.map(|at| (chunk, at)).map_err(|at| (chunk, at))
    }
}

fn name<S: Spec>(object: &Object<S>) -> &str {
    object.name.as_ref()
}

/// A position between the objects of a map.
struct Cursor<'a, S: Spec> {
    chunks: &'a [Chunk<S>],
    /// The position in the first of the chunks.
    at: usize,
}

impl<S: Spec> Clone for Cursor<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Spec> Copy for Cursor<'_, S> {}

impl<'a, S: Spec> Cursor<'a, S> {
    fn new(objects: &'a Named<S>) -> Self {
        Self { chunks: &objects.chunks, at: 0 }
    }

    fn object(self) -> Option<&'a Arc<Object<S>>> {
        self.chunks.first()?.get(self.at)
    }

    /// Whether both cursors are at the start of the same shared chunk.
    fn skips_with(self, other: &Self) -> bool {
        let chunks = self.chunks.first().zip(other.chunks.first());
        self.at == 0 && other.at == 0 && chunks.is_some_and(|(one, other)| Arc::ptr_eq(one, other))
    }

    fn next(self) -> Self {
        let is_last = self.chunks.first().is_none_or(|chunk| self.at + 1 >= chunk.len());
        if is_last { self.next_chunk() } else { Self { at: self.at + 1, ..self } }
    }

    fn next_chunk(self) -> Self {
        Self { chunks: self.chunks.get(1..).unwrap_or_default(), at: 0 }
    }
}

impl<S: Spec> Default for Named<S> {
    fn default() -> Self {
        Self { chunks: Vec::new(), len: 0 }
    }
}

impl<S: Spec> Clone for Named<S> {
    fn clone(&self) -> Self {
        Self { chunks: self.chunks.clone(), len: self.len }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fleet::tests::cluster;
    use crate::object::Cluster;

    type Expected = BTreeMap<String, u64>;

    /// A sequence of numbers that is the same in every run.
    fn numbers(mut seed: u64) -> impl Iterator<Item = u64> {
        std::iter::repeat_with(move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        })
    }

    fn check(objects: &Named<Cluster>, expected: &Expected) {
        let found: Vec<_> = objects.iter().map(|(name, object)| (name.to_string(), object.digest)).collect();
        let expected: Vec<_> =
            expected.iter().map(|(name, version)| (name.clone(), cluster(name, *version).digest)).collect();
        assert!(found == expected);
        assert_eq!(objects.len(), found.len());
        assert!(objects.chunks.iter().all(|chunk| (1..=CHUNK_MAX).contains(&chunk.len())));
    }

    /// Makes the same changes in both maps.
    fn change(objects: &mut Named<Cluster>, expected: &mut Expected, (count, seed): (usize, u64)) {
        for number in numbers(seed).take(count) {
            let (name, version) = (format!("c{}", number % 5000), number % 3);
            if version == 0 {
                assert_eq!(objects.remove(&name).is_some(), expected.remove(&name).is_some());
            } else {
                let replaced = objects.insert(Arc::new(cluster(&name, version)));
                assert_eq!(replaced.is_some(), expected.insert(name, version).is_some());
            }
        }
    }

    #[test]
    fn named_objects_behave_as_a_map_and_report_changes() {
        let (mut objects, mut expected) = (Named::default(), Expected::new());
        for round in 0..8 {
            let (earlier, before) = (objects.clone(), expected.clone());
            change(&mut objects, &mut expected, (if round % 2 == 0 { 3000 } else { 3 }, round));
            check(&objects, &expected);
            check(&earlier, &before);
            let changed: Vec<_> = objects
                .changes(&earlier)
                .into_iter()
                .filter_map(|(old, new)| Some(old.or(new)?.name.to_string()))
                .collect();
            let names: std::collections::BTreeSet<_> = before.keys().chain(expected.keys()).collect();
            let expected: Vec<_> =
                names.into_iter().filter(|name| before.get(*name) != expected.get(*name)).cloned().collect();
            assert_eq!(changed, expected);
        }
    }

    #[test]
    fn ordered_inserts_fill_the_chunks() {
        let mut objects = Named::default();
        for number in 0..2000 {
            objects.insert(Arc::new(cluster(&format!("c{number:04}"), 1)));
        }
        assert_eq!(objects.chunks.len(), 2000_usize.div_ceil(CHUNK_MAX));
        assert!(objects.contains_key("c1999") && objects.get("c0512").is_some() && !objects.contains_key("c2000"));
    }
}
