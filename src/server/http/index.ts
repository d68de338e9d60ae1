export { afterFirst } from './after-first.ts'
export { approvalRequired, waitsForClient } from './approval-required.ts'
export { type AuditEntry, type AuditRecord, auditLog, readAudit } from './audit.ts'
export { type Caller, isAdmin, type RateLimits, type Scope, scopes } from './caller.ts'
export type { AllowedNames } from './check-host.ts'
export { continueWithResults, parseCallId, type Returned, type WireCall, type WireResult, wireCall } from './client-calls.ts'
export type { Connection } from './connection.ts'
export { type Continued, continueTurn, records } from './continue-turn.ts'
export { encodedOnce, eventStream, type SseMessage, sseBytes } from './event-stream.ts'
export { findAgent } from './find-agent.ts'
export { errorShape, errorText, HttpError, plainErrors, renewalOf, type ServerErrorCode, toHttpError } from './http-error.ts'
export { asksNothing, ignoredHeaders, unknownQuery } from './ignored-parameters.ts'
export { areasOf } from './known-paths.ts'
export { labelOf } from './label.ts'
export { type ListenOptions, listen } from './listen.ts'
export { localToken, randomToken, readLocalToken } from './local-token.ts'
export { nodeHandler } from './node-handler.ts'
export { onBodyEnd } from './on-body-end.ts'
export { openLimit } from './open-limit.ts'
export type { OpenStream, StreamLimits } from './open-streams.ts'
export { type Definitions, openApiDocument, published } from './openapi.ts'
export { pageOf } from './page-of.ts'
export { PublicView } from './public-view.ts'
export { decodeBody, parseJson, readBytes } from './read-body.ts'
export { outputOf } from './requested-output.ts'
export { type Entered, json, type Peer, type Route, type RouteRequest, route } from './route.ts'
export { scopedSessions } from './scoped-sessions.ts'
export { type AccessEntry, type HeadendServer, type HeadendServerOptions, headendServer } from './server.ts'
export { type ServerRouteDependencies, serverRoutes } from './server-routes.ts'
export { hasScope } from './token-scopes.ts'
export {
  budgetOfTokens,
  createToken,
  listTokens,
  revokeToken,
  storedTokens,
  type TokenRecord,
  type TokenSettings,
} from './tokens.ts'
export { answerBroken, isSpoken, prefersAsync, requireAnswer, startTurn, type Turn } from './turn.ts'
export { isFollowed, turnFollower } from './turn-follower.ts'
export { type CallView, type TurnPart, TurnParts } from './turn-parts.ts'
export { type PlaceLimits, TurnPlaces } from './turn-places.ts'
