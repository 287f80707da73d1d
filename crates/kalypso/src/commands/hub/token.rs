//! `kalypso hub token`: the tokens that authenticate clients to the hub.

use hub::authentication::tokens::{self, NewToken, TokenError};
use hub_api::timestamp::Timestamp;
use hub_api::token::TokenText;
use hub_api::tokens::{Group, HostScope, Reach, Scope, Token};
use serde_json::json;

use super::{labels, unusable, with_database};
use crate::arguments::{
    Format, HubTokenCommand, HubTokenCreate, HubTokenList, HubTokenRevoke, HubTokenRotate, TokenRole,
};
use crate::exit::{Exit, Failure};
use crate::times::{date, duration};
use crate::{hub_client, table, terminal};

pub(super) fn run(command: &HubTokenCommand) -> anyhow::Result<Exit> {
    match command {
        HubTokenCommand::Create(options) => create(options),
        HubTokenCommand::List(options) => list(options),
        HubTokenCommand::Revoke(options) => revoke(options),
        HubTokenCommand::Rotate(options) => rotate(options),
    }
}

fn create(options: &HubTokenCreate) -> anyhow::Result<Exit> {
    let expires_on = options.expires.as_deref().map(end).transpose()?;
    let (name, signs) = (options.name.clone(), options.signing);
    let token = NewToken { name, scope: scope(options)?, signs, expires_on };
    if let Scope::Group(group) = &token.scope {
        terminal::warn(shared(group));
    }
    let text = with_database(&options.database, async |database| {
        Ok(tokens::create(database, &token, &super::actor()).await.map_err(failure)?)
    })?;
    show(&options.name, &text, (options.signing, options.output))
}

fn scope(options: &HubTokenCreate) -> Result<Scope, Failure> {
    let reach = Reach { workspaces: options.workspace.clone(), environments: options.environment.clone() };
    let is_of_hosts = options.host.is_some() || options.hosts.is_some();
    let is_limited = options.role.is_some_and(|role| !matches!(role, TokenRole::Manage | TokenRole::Admin));
    if !reach.workspaces.is_empty() && !is_limited || !reach.environments.is_empty() && !is_limited && !is_of_hosts {
        let message = "`--workspace` limits tokens with the roles `reader`, `approver`, `operator` and `publish`, and `--environment` these and tokens of hosts";
        return Err(Failure::usage(message).help("hosts are limited with `--hosts`, `--place` and `--environment`"));
    }
    let (places, environments) = (options.place.clone(), options.environment.clone());
    Ok(match (&options.host, &options.hosts, options.role) {
        (Some(host), _, _) => Scope::Host(HostScope { host: host.clone(), places, environments }),
        (None, Some(hosts), _) => Scope::Group(Group {
            hosts: hosts.clone(),
            reconciler_types: options.reconciler_type.clone(),
            places,
            labels: labels(&options.label)?,
            environments,
        }),
        (None, None, Some(TokenRole::Approver)) => Scope::Approver(reach),
        (None, None, Some(TokenRole::Operator)) => Scope::Operator(reach),
        (None, None, Some(TokenRole::Publish)) => Scope::Publish(reach),
        (None, None, Some(TokenRole::Manage)) => Scope::Manage,
        (None, None, Some(TokenRole::Admin)) => Scope::Admin,
        (None, None, _) => Scope::Read(reach),
    })
}

/// The warning about a token that several hosts share.
fn shared(group: &Group) -> &'static str {
    if group.places.is_empty() {
        "the hosts share this token. Its owner can report for each `Cluster` that the pattern matches. A token for each host (`--host`) is safer."
    } else {
        "the hosts share this token. Its owner can report for each host name that the pattern matches, at these places. A token for each host \
         (`--host`) is safer."
    }
}

/// Parses the end of a token's validity: a duration from now, a date, or a timestamp.
fn end(text: &str) -> Result<Timestamp, Failure> {
    if let Some(moment) = date(text) {
        return Ok(moment);
    }
    let wrong = |_| {
        Failure::usage(format!("`--expires {text}` is neither a length of time (90d, 12h) nor a date (2027-01-31)"))
    };
    Ok(Timestamp::now().after(duration("--expires", text).map_err(wrong)?))
}

fn rotate(options: &HubTokenRotate) -> anyhow::Result<Exit> {
    let grace = duration("--grace", &options.grace)?;
    let (text, signs) = with_database(&options.database, async |database| {
        let text = tokens::rotate(database, &options.name, (grace, &super::actor())).await.map_err(failure)?;
        let token = tokens::find(database, text.id()).await.map_err(unusable)?;
        Ok((text, token.is_some_and(|known| known.token.signs)))
    })?;
    show(&options.name, &text, (signs, options.output))
}

/// Prints a new secret. It can't be shown again later.
fn show(name: &str, text: &TokenText, (signs, format): (bool, Format)) -> anyhow::Result<Exit> {
    let key = text.signing_key();
    let key = signs.then(|| key.reveal().to_owned());
    if format == Format::Human {
        let key = key.map(|key| format!("{key}\n")).unwrap_or_default();
        terminal::answer(&format!("{}\n{key}", text.reveal()))?;
        let what =
            if signs { "The first line is the token, the second one its signing key. They are" } else { "It is" };
        terminal::note(&format!("{what} not shown again: the hub keeps only a digest."));
    } else {
        let answer = json!({"name": name, "id": text.id(), "token": text.reveal(), "signingKey": key});
        terminal::answer(&terminal::structured(&answer, format))?;
    }
    Ok(Exit::Good)
}

fn list(options: &HubTokenList) -> anyhow::Result<Exit> {
    let tokens =
        with_database(&options.database, async |database| Ok(tokens::list(database).await.map_err(unusable)?))?;
    if options.output == Format::Human {
        terminal::answer(&table(&tokens, Timestamp::now()))?;
    } else {
        terminal::answer(&terminal::structured(&json!({ "tokens": tokens }), options.output))?;
    }
    Ok(Exit::Good)
}

fn table(tokens: &[Token], now: Timestamp) -> String {
    if tokens.is_empty() {
        return "There is no token yet: the hub gives every process on its machine full access, and accepts no connection from other machines.\n"
            .to_owned();
    }
    let heading = ["NAME", "ID", "FOR", "STATE", "LAST USED"].map(str::to_owned);
    let rows = tokens.iter().map(|token| {
        let used = token.last_used_on.map_or("never".to_owned(), |moment| moment.to_string());
        [token.name.clone(), token.id.clone(), purpose(&token.scope), state(token, now), used]
    });
    table::table(std::iter::once(heading).chain(rows))
}

fn purpose(scope: &Scope) -> String {
    match scope {
        Scope::Host(scope) => at(format!("host {}", scope.host), (&scope.places, &scope.environments)),
        Scope::Group(group) => at(format!("hosts {}, shared", group.hosts), (&group.places, &group.environments)),
        scope => limited(scope.role(), scope.reach()),
    }
}

/// The hosts of a token, with the places and environments that it names.
fn at(hosts: String, (places, environments): (&[String], &[String])) -> String {
    let environments = (!environments.is_empty()).then(|| format!(" in {}", environments.join(", ")));
    let places = (!places.is_empty()).then(|| format!(" at {}", places.join(", ")));
    hub_client::plain(&[Some(hosts), environments, places].into_iter().flatten().collect::<String>())
}

fn limited(role: &str, reach: &Reach) -> String {
    if reach.is_all() { role.to_owned() } else { hub_client::plain(&format!("{role} ({reach})")) }
}

fn state(token: &Token, now: Timestamp) -> String {
    match (token.revoked_on, token.expires_on) {
        (Some(revoked_on), _) => format!("revoked {revoked_on}"),
        (None, Some(end)) if end <= now => format!("expired {end}"),
        (None, Some(end)) => format!("until {end}"),
        (None, None) => "good".to_owned(),
    }
}

fn revoke(options: &HubTokenRevoke) -> anyhow::Result<Exit> {
    with_database(&options.database, async |database| {
        Ok(tokens::revoke(database, &options.name, &super::actor()).await.map_err(failure)?)
    })?;
    terminal::note(&format!("Within five seconds, no replica accepts `{}` any more.", options.name));
    Ok(Exit::Good)
}

fn failure(error: TokenError) -> Failure {
    let message = error.to_string();
    match error {
        TokenError::Name(_) | TokenError::Signing | TokenError::Reach => Failure::usage(message),
        TokenError::Taken(_) => Failure::refused(message).help("`kalypso hub token rotate` gives it a new secret"),
        TokenError::Unknown(_) => Failure::refused(message).help("`kalypso hub token list` lists the tokens"),
        TokenError::Random(_) | TokenError::Database(_) => Failure::outside(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_ends_after_a_time_or_on_a_day() {
        assert_eq!(end("2027-01-31").unwrap().to_string(), "2027-01-31T00:00:00.000Z");
        assert_eq!(end("2027-01-31T12:00:00+02:00").unwrap().to_string(), "2027-01-31T10:00:00.000Z");
        assert!(end("90d").unwrap() > Timestamp::now());
        assert!(end("soon").unwrap_err().message.contains("neither"));
    }
}
