//! What a record promises, from outside.

mod log;
