export {
  type AgentChanges,
  type AgentSpec,
  type AgentTrust,
  type InputContract,
  type JsonOutput,
  type ModelParameters,
  type OutputContract,
  type OverridableParameter,
  overridableParameters,
  type ReasoningEffort,
  reasoningEfforts,
} from './agent.ts'
export {
  type ApprovalBreadth,
  type ApprovalDecision,
  type ApprovalKey,
  type ApprovalPolicy,
  type ApprovalRequest,
  type ApprovalRule,
  type ApprovalWish,
  type Approver,
  type ProjectGrants,
  type Question,
  type QuestionAnswer,
  type RuleVerdict,
  ruleVerdicts,
} from './approvals.ts'
export { BudgetExhaustedError, type ErrorCode, errorTable, JournalDamagedError, type Problem, TroupeError } from './errors.ts'
export type {
  AskedFirst,
  Carried,
  CheckedOutput,
  ChildEnd,
  EffectBundle,
  Envelope,
  EventBody,
  EventDraft,
  EventType,
  InputMode,
  InteractionEvent,
  ItemDelta,
  LastStepReason,
  LiveEvent,
  LivePlace,
  ParentCall,
  PartialReason,
  QueueEvent,
  ReplyRef,
  Reservation,
  RunFlag,
  RunOrigin,
  StreamEvent,
  TokenPrice,
  TurnEnding,
  TurnTotals,
} from './events.ts'
export {
  type Diagnostic,
  type DiagnosticCode,
  type ModelFailure,
  type ModelFailureClass,
  type ReplyLimit,
  type Severity,
  type ToolFailure,
  type ToolFailureClass,
  type TurnReason,
  toolFailureClasses,
} from './failures.ts'
export {
  type AfterCallVerdict,
  type AtStopVerdict,
  type BeforeCallVerdict,
  type BeforeRequestVerdict,
  type CallView,
  type Hook,
  type HookContext,
  type HookDefinition,
  type HookPoint,
  hookPoints,
  maxHookOutputChars,
  type OutputView,
  type RequestView,
  type StopView,
} from './hook.ts'
export {
  type HttpAuth,
  type HttpMethod,
  httpMethods,
  type OpenApiDefinition,
  type ParameterPlace,
  parameterPlaces,
  type RestPagination,
  type RestParameter,
  type RestToolDefinition,
} from './http-tools.ts'
export type { ApprovalId, BlobId, CallId, ClientId, ItemId, OwnerId, SessionId, StepId, TreeId, TurnId } from './ids.ts'
export {
  type CallIntent,
  type CallItemType,
  type CallRecord,
  callItemTypes,
  type Effect,
  type ItemIntent,
  type ItemRecord,
  type ItemStatus,
  type ItemType,
  type Lane,
  type PlanIntent,
  type PlanRecord,
  type TextIntent,
  type TextItemType,
  type TextRecord,
} from './items.ts'
export type { Json, JsonObject, JsonSchema, MaybePromise } from './json.ts'
export { type AgentLimits, childLimits, defaultLimits, limitBounds } from './limits.ts'
export type {
  HttpServerDefinition,
  McpClientCredentials,
  McpOAuth,
  McpProtocol,
  McpServerAuth,
  McpServerDefinition,
  McpServerSettings,
  StdioServerDefinition,
} from './mcp-server.ts'
export type {
  CallPart,
  CallResult,
  FilePart,
  ImagePart,
  InputPart,
  Message,
  OutputPart,
  ReasoningPart,
  ReplyPart,
  StoredPart,
  TextPart,
} from './messages.ts'
export type { AttemptContext, FinishReason, Model, ModelAbility, ModelAdapter, ModelPart, ModelRequest, ToolSpec } from './model.ts'
export {
  appendInstruction,
  invalidAnswerPrefix,
  isProjectText,
  jsonInstruction,
  lastStepInstruction,
  plainTextInstruction,
  wrapProjectText,
} from './model-texts.ts'
export { type NumberBounds, parameterBounds } from './number-bounds.ts'
export { OpenRequests } from './open-requests.ts'
export type {
  AccountingEntry,
  CallEntry,
  CallOperation,
  ModelEntry,
  Outcome,
  OutcomeStatus,
  Report,
  StepOperation,
  Trace,
  TurnOperation,
} from './outcome.ts'
export { type Plan, type PlanStatus, type PlanStep, planStatuses } from './plan.ts'
export type { Clock, Ids, Random, SchemaValidator, Validate, Validation } from './ports.ts'
export { localPrincipal, type OwnerBudget, type Principal, type PrincipalKind, principalKinds, type SessionPlace } from './principal.ts'
export { type ProviderKind, providerKinds, reservedModelNames } from './provider-kinds.ts'
export { type Confinement, defaultSandboxPolicy, type Sandbox, type SandboxPolicy } from './sandbox.ts'
export type {
  AgentDescription,
  ApprovalAnswer,
  EventsOptions,
  Receipt,
  SendOptions,
  SessionChange,
  SessionEntry,
  SessionExport,
  SessionService,
  SessionSettings,
  StartOptions,
  StoredOutput,
} from './session-service.ts'
export { sessionFieldLimits } from './session-service.ts'
export { type SkillCard, type SkillScope, skillScopes } from './skill.ts'
export type { AgentLoopStateSnapshot } from './snapshot.ts'
export type { AnySchema, SchemaInput, SchemaOutput, StandardIssue, StandardResult, StandardSchema } from './standard-schema.ts'
export type {
  Append,
  AppendBatch,
  Blobs,
  Claim,
  Deletion,
  Inbox,
  InboxMessage,
  InboxRow,
  Journal,
  OwnerUsage,
  OwnerUsages,
  Records,
  Snapshots,
  StateSnapshot,
  Store,
  StoredBytes,
  StoredRecord,
  TreeChange,
  TreeEntry,
  TreeFilter,
  TreeIdentity,
  TreeSummary,
  Trees,
  UsageCharge,
} from './store.ts'
export { sessionStatuses } from './store.ts'
export {
  type AgentCard,
  type ChildControl,
  type ChildResult,
  type ChildTask,
  type Gate,
  type ItemView,
  type RemainingBudget,
  type SampleRequest,
  type SampleResult,
  type SpawnedAgent,
  storedOutputFlag,
  type Tool,
  type ToolContext,
  type ToolExtras,
  type ToolOutput,
  type ToolPart,
  type ToolQuestions,
  type WaitedAgent,
  type WaitRequest,
} from './tool.ts'
export type { SessionToolSource, SourceSession, ToolSource } from './tool-source.ts'
export { addSpent, type Cost, noUsage, type Spent, type Usage } from './usage.ts'
