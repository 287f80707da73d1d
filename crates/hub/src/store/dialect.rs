//! Differences between the SQL of SQLite and of PostgreSQL.

/// The SQL dialect of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite: a timestamp is an integer.
    Sqlite,
    /// PostgreSQL: a timestamp is a `timestamp(3)`.
    Postgres,
}

impl Dialect {
    /// The expression that converts milliseconds since 1970 to a timestamp of the database.
    pub fn instant(self, millis: &str) -> String {
        match self {
            Self::Sqlite => millis.to_owned(),
            Self::Postgres => format!("(timestamp 'epoch' + {millis} * interval '1 millisecond')"),
        }
    }

    /// The expression that converts a timestamp of the database to milliseconds since 1970.
    pub fn millis(self, timestamp: &str) -> String {
        match self {
            Self::Sqlite => timestamp.to_owned(),
            Self::Postgres => format!("(extract(epoch from {timestamp}) * 1000)::bigint"),
        }
    }

    /// The expression for the time of the database. It is the same in a whole transaction of PostgreSQL.
    pub fn now(self) -> &'static str {
        match self {
            Self::Sqlite => "cast(unixepoch('subsec') * 1000 as integer)",
            Self::Postgres => "(now() at time zone 'utc')",
        }
    }

    /// The expression for the timestamp that is some milliseconds later than another one.
    pub fn later(self, timestamp: &str, millis: i64) -> String {
        match self {
            Self::Sqlite => format!("({timestamp} + {millis})"),
            Self::Postgres => format!("({timestamp} + {millis} * interval '1 millisecond')"),
        }
    }

    /// The condition that an integer is in the list of a parameter ([`super::SqlValue::Ints`]).
    pub fn any_int(self, column: &str, parameter: &str) -> String {
        match self {
            Self::Sqlite => format!("{column} in (select value from json_each({parameter}))"),
            Self::Postgres => format!("{column} = any({parameter})"),
        }
    }

    /// The condition that a text is in the list of a parameter ([`super::SqlValue::Texts`]).
    pub fn any_text(self, column: &str, parameter: &str) -> String {
        self.any_int(column, parameter)
    }

    /// A table of pairs of integers with the columns `first` and `second`. The parameter is a JSON text: `[[1,2],[3,4]]`.
    pub fn pairs(self, parameter: &str) -> String {
        self.rows_of_json(parameter, &["first", "second"])
    }

    /// A table of integers with these columns. The parameter is a JSON text with an array for each row: `[[1,2,3],[4,5,6]]`.
    pub fn rows_of_json(self, parameter: &str, columns: &[&str]) -> String {
        let column = |(number, name): (usize, &&str)| match self {
            Self::Sqlite => format!("json_extract(value, '$[{number}]') as {name}"),
            Self::Postgres => format!("(value->>{number})::bigint as {name}"),
        };
        let selected = columns.iter().enumerate().map(column).collect::<Vec<_>>().join(", ");
        match self {
            Self::Sqlite => format!("(select {selected} from json_each({parameter}))"),
            Self::Postgres => format!("(select {selected} from json_array_elements({parameter}::json))"),
        }
    }

    /// The expression for all rows as one JSON text: an array of arrays with the values of these expressions.
    pub fn json_of(self, expressions: &[&str]) -> String {
        let values = expressions.join(", ");
        match self {
            Self::Sqlite => format!("json_group_array(json_array({values}))"),
            Self::Postgres => format!("json_agg(json_build_array({values}))::text"),
        }
    }

    /// The clause behind a `select` that locks its rows until the end of the transaction. It is empty for SQLite, which has one writer.
    pub fn for_update(self, table: &str) -> String {
        match self {
            Self::Sqlite => String::new(),
            Self::Postgres => format!(" for update of {table}"),
        }
    }

    /// The expression of a text for comparisons byte by byte, for any collation of the database. SQLite always compares bytes.
    pub fn in_bytes(self, text: &str) -> String {
        match self {
            Self::Sqlite => text.to_owned(),
            Self::Postgres => format!("{text} collate \"C\""),
        }
    }

    /// The expression for the position of a text in another one, from 1; 0 if it is not there.
    pub fn position(self, text: &str, part: &str) -> String {
        match self {
            Self::Sqlite => format!("instr({text}, {part})"),
            Self::Postgres => format!("strpos({text}, {part})"),
        }
    }

    /// The expression of a name for searches: letters of ASCII in lower case, and `-` between segments.
    pub fn search_text(self, name: &str) -> String {
        match self {
            Self::Sqlite => format!("lower(replace(replace(replace({name}, '.', '-'), '_', '-'), '/', '-'))"),
            Self::Postgres => format!("(translate(lower({name} collate \"C\"), '._/', '---') collate \"C\")"),
        }
    }

    /// The expression of the part of a name behind a number of segments, for searches. If there are fewer segments: null in PostgreSQL, the last one in SQLite.
    /// The migrations have indexes of these expressions for the names of hosts, for 0 to 3 segments.
    pub fn search_part(self, name: &str, segments: usize) -> String {
        let text = self.search_text(name);
        match self {
            _ if segments == 0 => text,
            Self::Sqlite => (0..segments).fold(text, |rest, _| format!("substr({rest}, instr({rest}, '-') + 1)")),
            Self::Postgres => format!("substring({text} from '^(?:[^-]*-){{{segments}}}(.*)$')"),
        }
    }

    /// The expression of the last segment of a name, for searches. The migrations have an index of it for the names of hosts.
    pub fn search_end(self, name: &str) -> String {
        let text = self.search_text(name);
        match self {
            Self::Sqlite => format!("replace({text}, rtrim({text}, replace({text}, '-', '')), '')"),
            Self::Postgres => format!("substring({text} from '[^-]*$')"),
        }
    }

    /// The type of integers that hold counts, for casts of sums.
    pub fn int(self, expression: &str) -> String {
        format!("cast({expression} as bigint)")
    }
}
