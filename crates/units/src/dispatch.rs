//! Static dispatch: one enum for all machines of a contract.

/// Writes the methods of an enum whose variants each hold one machine: the contract's signatures are listed once, the
/// matches over the variants are written here. Attributes (`#[inline]`) stay where they stand.
///
/// * `fn f(&self, x: X) -> Y;` calls `f` of whichever machine it is; `&mut self` likewise.
/// * `fn f(&mut self, [spec: &Spec], x: X) -> Y;` matches an argument as well: a machine is called with what the
///   variant of the same name of `Spec` holds. If that is another variant, its owner is in error ([`mismatch`]).
/// * `fn g as f(&self, x: X) -> Result<Machine, E>;` makes one enum out of another: what `f` returns becomes the
///   variant of the same name of `Machine`, boxed if that is. So does `-> Machine` without a `Result`.
///
/// ```
/// trait Shape {
///     fn area(&self) -> u32;
///     fn grow(&mut self, by: u32) {}
/// }
/// struct Square(u32);
/// impl Shape for Square {
///     fn area(&self) -> u32 {
///         self.0 * self.0
///     }
///     fn grow(&mut self, by: u32) {
///         self.0 += by;
///     }
/// }
/// struct Point;
/// impl Shape for Point {
///     fn area(&self) -> u32 {
///         0
///     }
/// }
///
/// enum Any {
///     Square(Square),
///     Point(Point),
/// }
/// thalweg_units::dispatch! {
///     impl Shape for Any over [Square Point] {
///         #[inline]
///         fn area(&self) -> u32;
///         fn grow(&mut self, by: u32);
///     }
/// }
///
/// let mut shapes = [Any::Square(Square(2)), Any::Point(Point)];
/// shapes.iter_mut().for_each(|shape| shape.grow(1));
/// assert_eq!(shapes.map(|shape| shape.area()), [9, 0]);
/// ```
///
/// [`mismatch`]: crate::mismatch
#[macro_export]
macro_rules! dispatch {
    (impl $contract:ident for $enum:ident over $variants:tt { $($methods:tt)* }) => {
        impl $contract for $enum {
            $crate::dispatch! { @methods $variants $($methods)* }
        }
    };
    (impl $enum:ident over $variants:tt { $($methods:tt)* }) => {
        impl $enum {
            $crate::dispatch! { @methods $variants $($methods)* }
        }
    };

    // One method after the other, by where its answer goes and how it takes `self`.
    (@methods $variants:tt) => {};
    (@methods $variants:tt $(#[$meta:meta])* $vis:vis fn $name:ident as $inner:ident(
        &self $(, $argument:ident: $type:ty)* $(,)?
    ) -> Result<$machine:ident, $error:ty>; $($more:tt)*) => {
        $(#[$meta])*
        $vis fn $name(&self $(, $argument: $type)*) -> Result<$machine, $error> {
            $crate::dispatch! { @try $variants self $inner ($($argument),*) $machine }
        }
        $crate::dispatch! { @methods $variants $($more)* }
    };
    (@methods $variants:tt $(#[$meta:meta])* $vis:vis fn $name:ident as $inner:ident(
        &self $(, $argument:ident: $type:ty)* $(,)?
    ) -> $machine:ident; $($more:tt)*) => {
        $(#[$meta])*
        $vis fn $name(&self $(, $argument: $type)*) -> $machine {
            $crate::dispatch! { @make $variants self $inner ($($argument),*) $machine }
        }
        $crate::dispatch! { @methods $variants $($more)* }
    };
    (@methods $variants:tt $(#[$meta:meta])* $vis:vis fn $name:ident(&self $($arguments:tt)*)
        $(-> $answer:ty)?; $($more:tt)*) => {
        $crate::dispatch! { @method $variants [$(#[$meta])* $vis] $name [&self] self ($($arguments)*) ($($answer)?) }
        $crate::dispatch! { @methods $variants $($more)* }
    };
    (@methods $variants:tt $(#[$meta:meta])* $vis:vis fn $name:ident(&mut self $($arguments:tt)*)
        $(-> $answer:ty)?; $($more:tt)*) => {
        $crate::dispatch! {
            @method $variants [$(#[$meta])* $vis] $name [&mut self] self ($($arguments)*) ($($answer)?)
        }
        $crate::dispatch! { @methods $variants $($more)* }
    };

    (@method $variants:tt [$($head:tt)*] $name:ident [$($receiver:tt)*] $self:ident (
        , [$with:ident: &$spec:ident] $(, $argument:ident: $type:ty)* $(,)?
    ) ($($answer:ty)?)) => {
        $($head)* fn $name($($receiver)*, $with: &$spec $(, $argument: $type)*) $(-> $answer)? {
            $crate::dispatch! { @both $variants $self $with $spec $name ($with $(, $argument)*) }
        }
    };
    (@method $variants:tt [$($head:tt)*] $name:ident [$($receiver:tt)*] $self:ident (
        $(, $argument:ident: $type:ty)* $(,)?
    ) ($($answer:ty)?)) => {
        $($head)* fn $name($($receiver)* $(, $argument: $type)*) $(-> $answer)? {
            $crate::dispatch! { @call $variants $self $name ($($argument),*) }
        }
    };

    // The match itself.
    (@call [$($variant:ident)*] $self:ident $name:ident $arguments:tt) => {
        match $self { $(Self::$variant(machine) => machine.$name $arguments,)* }
    };
    (@both [$($variant:ident)*] $self:ident $with:ident $spec:ident $name:ident $arguments:tt) => {
        match ($self, $with) {
            $((Self::$variant(machine), $spec::$variant($with)) => machine.$name $arguments,)*
            _ => $crate::mismatch(),
        }
    };
    (@try [$($variant:ident)*] $self:ident $name:ident $arguments:tt $machine:ident) => {
        match $self { $(Self::$variant(spec) => spec.$name $arguments.map(|made| $machine::$variant(made.into())),)* }
    };
    (@make [$($variant:ident)*] $self:ident $name:ident $arguments:tt $machine:ident) => {
        match $self { $(Self::$variant(spec) => $machine::$variant(spec.$name $arguments.into()),)* }
    };
}

/// A machine was called with what belongs to one of another kind: the owner's bug, and then nothing happens.
#[cold]
pub fn mismatch<T: Default>() -> T {
    debug_assert!(false, "a machine was called with another one's parameters");
    T::default()
}
