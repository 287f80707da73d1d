//! Signatures of commits with SSH keys, in the format that `git verify-commit` reads.
//!
//! Only Ed25519 keys are supported: their signatures are deterministic, so the same commit always has the same id.

use std::fmt;
use std::sync::Arc;

use gix::objs::CommitRefIter;
use ssh_key::public::KeyData;
use ssh_key::{Algorithm, HashAlg, LineEnding, SshSig};

/// The namespace of git's signatures (`gitformat-signature`).
const NAMESPACE: &str = "git";

/// A private key that signs commits. Clones share it.
#[derive(Clone)]
pub struct SigningKey(Arc<ssh_key::PrivateKey>);

/// A public key, without its comment.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(KeyData);

/// The signature of a commit, with the bytes that it signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSignature {
    /// The signature, as armored text.
    text: Vec<u8>,
    /// The commit without its signature.
    signed: Vec<u8>,
}

/// The reason why a text is not a usable key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is no private key, or one of another kind.
    #[error("it is no private Ed25519 key in the format of OpenSSH: `ssh-keygen -t ed25519 -N '' -f FILE` makes one")]
    NotPrivate,
    /// It is no public key, or one of another kind.
    #[error("it is no public Ed25519 key, such as `ssh-ed25519 AAAA…`: it is in the file that ends with `.pub`")]
    NotPublic,
    /// Only a person could unlock it.
    #[error("it has a passphrase: `ssh-keygen -p -N '' -f FILE` removes it")]
    Encrypted,
}

impl SigningKey {
    /// Reads a private key in the format of OpenSSH.
    ///
    /// # Errors
    /// If the text is no such key, or if it is encrypted.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let key = ssh_key::PrivateKey::from_openssh(text.trim()).ok();
        let key = key.filter(|key| key.algorithm() == Algorithm::Ed25519).ok_or(KeyError::NotPrivate)?;
        if key.is_encrypted() {
            return Err(KeyError::Encrypted);
        }
        Ok(Self(Arc::new(key)))
    }

    /// The public half of the key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.public_key().key_data().clone())
    }

    /// Signs a commit, and returns the armored text.
    pub(crate) fn sign(&self, commit: &[u8]) -> String {
        let signature = self.0.sign(NAMESPACE, HashAlg::Sha512, commit);
        let text = signature.and_then(|signature| signature.to_pem(LineEnding::LF));
        text.unwrap_or_else(|_| unreachable!("a key without a passphrase signs all bytes"))
    }
}

impl PublicKey {
    /// Reads a public key, such as `ssh-ed25519 AAAA… comment`.
    ///
    /// # Errors
    /// If the text is no such key.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let key = ssh_key::PublicKey::from_openssh(text.trim()).ok();
        let key = key.filter(|key| key.algorithm() == Algorithm::Ed25519).ok_or(KeyError::NotPublic)?;
        Ok(Self(key.key_data().clone()))
    }

    fn to_ssh(&self) -> ssh_key::PublicKey {
        ssh_key::PublicKey::from(self.0.clone())
    }
}

impl CommitSignature {
    /// Finds the signature of an encoded commit. None: it has none.
    pub(crate) fn from_commit(commit: &[u8]) -> Option<Self> {
        let (text, signed) = CommitRefIter::signature(commit, gix::hash::Kind::Sha1).ok()??;
        Some(Self { text: text.to_vec(), signed: signed.to_bstring().into() })
    }

    /// Whether one of these keys made the signature.
    pub fn is_by_one_of(&self, keys: &[PublicKey]) -> bool {
        let Ok(signature) = SshSig::from_pem(&self.text) else { return false };
        let verifies = |key: &PublicKey| key.to_ssh().verify(NAMESPACE, &self.signed, &signature).is_ok();
        keys.iter().any(verifies)
    }
}

/// Writes the key as in a file that ends with `.pub`, without a comment.
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_ssh().to_openssh().map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(of {})", self.public())
    }
}

#[cfg(test)]
mod tests {
    use model::tree::{Child, Entry, Tree, closed};
    use testkit::keys;

    use super::*;
    use crate::{MemoryRepositories, NewCommit, Person, Repositories as _, RepositoryUrl, Revision};

    /// What `git commit -S` wrote with the key, for a file `a` with the line `a`.
    const BY_GIT: &str = "tree aaff74984cccd156a469afa7d9ab10e4777beb24\nauthor Ann <ann@example.com> 1000 +0000\n\
        committer Ann <ann@example.com> 1000 +0000\ngpgsig -----BEGIN SSH SIGNATURE-----\n \
        U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgrZaIKNElIPEHBotJrI5vaz/kfa\n \
        DjFzEbdCRJB2s55MMAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5\n \
        AAAAQAfd+RQn2Cb7XmeQKknXKO7FzgXdij2K1893zpzD6cWwUi2EC5YZfSCLz7orKxcXaZ\n \
        Vvr5l08q8gty4C8s72bQI=\n -----END SSH SIGNATURE-----\n\nstates\n\nKalypso-Environment: prod\n";

    fn keys() -> (SigningKey, PublicKey, PublicKey) {
        let [own, other] = [keys::SIGNING.1, keys::OTHER.1].map(|text| PublicKey::parse(text).unwrap());
        (SigningKey::parse(keys::SIGNING.0).unwrap(), own, other)
    }

    #[test]
    fn a_signed_commit_is_that_of_git() {
        let mut tree = Tree::default();
        tree.put("a", Child::File(Entry::file(b"a\n".to_vec())), &closed).unwrap();
        let (author, message) =
            (&Person { name: "Ann".into(), email: "ann@example.com".into() }, "states\n\nKalypso-Environment: prod\n");
        let (signer, tree) = (Some(&keys().0), &tree);
        let commit = NewCommit { parents: &[], tree, open: &closed, message, author, seconds: 1000, signer };
        let (repositories, url) =
            (MemoryRepositories::default(), RepositoryUrl::from_object("https://git.example/a").unwrap());
        let id = repositories.commit(&url, "main", &commit).unwrap();
        assert_eq!(id.to_string(), "82953d044e9dcf24fcc1ea525c2b733f6107f1b1");
        let head = repositories.resolve(&url, &Revision::branch("main")).unwrap();
        assert_eq!(repositories.info(&head).unwrap().signature, CommitSignature::from_commit(BY_GIT.as_bytes()));
    }

    #[test]
    fn only_the_key_that_signed_verifies_the_commit() {
        let (signer, own, other) = keys();
        assert_eq!(signer.public(), own);
        let by = |text: &str, keys: &[PublicKey]| {
            CommitSignature::from_commit(text.as_bytes()).map(|signature| signature.is_by_one_of(keys))
        };
        assert_eq!(by(BY_GIT, &[other.clone(), own.clone()]), Some(true));
        assert_eq!(by(BY_GIT, &[other]), Some(false));
        for (from, to) in
            [("prod\n", "stage\n"), ("1000 +0000\ng", "1001 +0000\ng"), ("tree a", "tree b"), ("AAAAQAfd", "AAAAQAfe")]
        {
            assert_eq!(by(&BY_GIT.replacen(from, to, 1), std::slice::from_ref(&own)), Some(false), "{from}");
        }
        let (start, end) = (BY_GIT.find("gpgsig").unwrap(), BY_GIT.find("\n\nstates").unwrap());
        assert_eq!(by(&format!("{}{}", &BY_GIT[..start], &BY_GIT[end + 1..]), &[own]), None);
    }

    #[test]
    fn other_texts_are_no_keys() {
        let private = |text| SigningKey::parse(text).unwrap_err();
        assert_eq!(private(keys::SIGNING.1), KeyError::NotPrivate);
        assert_eq!(private(keys::LOCKED), KeyError::Encrypted);
        assert_eq!(private(keys::ECDSA), KeyError::NotPrivate);
        assert_eq!(PublicKey::parse(keys::SIGNING.0), Err(KeyError::NotPublic));
        assert_eq!(PublicKey::parse("ssh-ed25519 AAAA"), Err(KeyError::NotPublic));
        assert_eq!(PublicKey::parse(&format!(" {} a comment\n", keys::SIGNING.1.trim())).unwrap(), keys().1);
        assert_eq!(keys().1.to_string(), keys::SIGNING.1.trim());
        assert!(!format!("{:?}", keys().0).contains("PRIVATE"));
    }
}
