declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** One conversation with one agent. The id of a root session also names it with all its descendants. */
export type SessionId = Branded<'SessionId'>
/** The id of a root session. `tree` is the internal word for a root session with its descendants. */
export type TreeId = SessionId
/** `t3`: the third turn of its session. */
export type TurnId = Branded<'TurnId'>
/** `t3.s2`: the second step of that turn. */
export type StepId = Branded<'StepId'>
/** `t3.s2.1`: the first item of that step; unique in its session. */
export type ItemId = Branded<'ItemId'>
/** Globally unique and stable over resume: an idempotency key for tools. */
export type CallId = Branded<'CallId'>
/** Chosen by the sender of a message: a message that is sent twice is accepted once. */
export type ClientId = Branded<'ClientId'>
export type ApprovalId = Branded<'ApprovalId'>
export type BlobId = Branded<'BlobId'>
/** A process that drives trees. */
export type DriverId = Branded<'DriverId'>
