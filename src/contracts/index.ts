export { type AgentLimits, type AgentSpec, defaultLimits, type ModelParameters } from './agent.ts'
export { type ErrorCode, errorTable, type Problem, TroupeError } from './errors.ts'
export type {
  ApprovalDecision,
  ApprovalKey,
  ApprovalRequest,
  Envelope,
  EventBody,
  EventDraft,
  EventType,
  FinishReason,
  InputMode,
  InteractionEvent,
  LastStepReason,
  LiveEvent,
  ReplyRef,
  Reservation,
  StreamEvent,
  TurnTotals,
} from './events.ts'
export type { Diagnostic, ModelFailure, ModelFailureClass, Severity, ToolFailure, ToolFailureClass, TurnReason } from './failures.ts'
export type { ApprovalId, BlobId, CallId, ClientId, ItemId, OwnerId, SessionId, StepId, TreeId, TurnId } from './ids.ts'
export type {
  CallIntent,
  CallItemType,
  CallRecord,
  Effect,
  ItemIntent,
  ItemRecord,
  ItemStatus,
  ItemType,
  Lane,
  TextIntent,
  TextItemType,
  TextRecord,
} from './items.ts'
export type { Json, JsonObject, JsonSchema, MaybePromise } from './json.ts'
export type { CallPart, CallResult, FilePart, ImagePart, InputPart, Message, ReasoningPart, ReplyPart, TextPart } from './messages.ts'
export type { Model, ModelAbility, ModelAdapter, ModelCall, ModelPart, ModelRequest, ToolSpec } from './model.ts'
export type {
  AccountingEntry,
  CallEntry,
  ModelEntry,
  Outcome,
  OutcomeStatus,
  Report,
  StepOperation,
  Trace,
  TurnOperation,
} from './outcome.ts'
export type {
  AfterCallVerdict,
  Approver,
  BeforeCallVerdict,
  CallView,
  Clock,
  Hook,
  Ids,
  Random,
  Sandbox,
  SchemaValidator,
  Validate,
  Validation,
} from './ports.ts'
export type { SendOptions, SessionService } from './session-service.ts'
export type { AgentLoopStateSnapshot } from './snapshot.ts'
export type {
  Append,
  AppendBatch,
  Blobs,
  Claim,
  Inbox,
  InboxMessage,
  InboxRow,
  Journal,
  Store,
  TreeEntry,
  TreeSummary,
  Trees,
} from './store.ts'
export type { Confinement, Gate, ItemView, RemainingBudget, Tool, ToolContext, ToolOutput, ToolSource } from './tool.ts'
export { type Cost, noUsage, type Usage } from './usage.ts'
