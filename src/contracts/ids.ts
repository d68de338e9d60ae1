declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** An agent at work on something. People name a root session, with all its descendants, by this id. */
export type SessionId = Branded<'SessionId'>
/** The id of a root session. Stores and events call a root session with its descendants a tree; that is the internal word. */
export type TreeId = SessionId
/** `t3`: the third turn of its session. */
export type TurnId = Branded<'TurnId'>
/** `t3.s2`: the second step of that turn. */
export type StepId = Branded<'StepId'>
/** `t3.s2.1`: the first item of that step; unique in its session. */
export type ItemId = Branded<'ItemId'>
/** Unique everywhere and stable over resume: tools use it as an idempotency key. */
export type CallId = Branded<'CallId'>
/** Chosen by whoever sends a message, so that sending it twice counts once. */
export type ClientId = Branded<'ClientId'>
export type ApprovalId = Branded<'ApprovalId'>
export type BlobId = Branded<'BlobId'>
/** One process that drives trees. */
export type OwnerId = Branded<'OwnerId'>
