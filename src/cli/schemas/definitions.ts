import type {
  Diagnostic,
  FinishReason,
  ModelAbility,
  ModelFailure,
  Problem,
  ReplyLimit,
  Report,
  Severity,
  TextIntent,
  ToolFailure,
  Trace,
} from '../../contracts/index.ts'
import type { ReportedOutcome } from '../run/run-documents.ts'
import type { StartDiagnostic } from '../team/start-diagnostics.ts'
import { agent, input, limits, output, parameters } from './agents.ts'
import { callIntent, callPart, callRecord, inputPart, message, textRecord } from './items.ts'
import {
  agentSummary,
  callEntry,
  callOperation,
  cost,
  modelEntry,
  modelSummary,
  outcomeFields,
  snapshot,
  toolSummary,
  turnOperation,
  usage,
} from './outcomes.ts'
import { approvalDecision, approvalKey, approvalRequest, plan, planIntent, planRecord, skill } from './policies.ts'
import { amount, anyJson, anyOf, closed, constant, name, oneOf, optional, type Schema, text } from './shapes.ts'
import { diagnosticCode, modelFailureClass, startDiagnosticCode, textType, toolFailureClass, turnReason } from './words.ts'

/** Definitions that the published schemas share, by name. */
export const definitions = {
  Agent: agent,
  Limits: { ...limits, description: 'Times are milliseconds.' },
  Parameters: parameters,
  OutputContract: output,
  InputContract: input,
  Usage: usage,
  Cost: cost,
  ModelFailure: closed<ModelFailure>({
    class: modelFailureClass,
    message: text,
    remedy: optional(text),
    retryAfterMs: optional(amount),
    limit: optional(oneOf<ReplyLimit>({ llmTimeout: true, idleTimeout: true, replyTimeout: true })),
    noAnswer: optional(constant(true)),
    cutBy: optional(oneOf<'tokens' | 'cost'>({ tokens: true, cost: true })),
  }),
  ToolFailure: closed<ToolFailure>({ class: toolFailureClass, message: text, remedy: optional(text) }),
  TurnReason: turnReason,
  Diagnostic: closed<Diagnostic>({
    code: diagnosticCode,
    severity: oneOf<Severity>({ info: true, warning: true, error: true }),
    message: text,
    remedy: optional(text),
  }),
  StartDiagnostic: closed<StartDiagnostic>(
    {
      code: startDiagnosticCode,
      severity: oneOf<Severity>({ info: true, warning: true, error: true }),
      place: text,
      message: text,
      remedy: optional(text),
    },
    { description: 'A diagnostic from before the start, about a setting that is ignored or applied only in part.' },
  ),
  ItemIntent: anyOf(callIntent, closed<TextIntent>({ kind: constant('text'), id: name, type: textType }), planIntent),
  ItemRecord: anyOf(callRecord, textRecord, planRecord),
  Plan: plan,
  Skill: skill,
  CallPart: callPart,
  InputPart: inputPart,
  Message: message,
  ApprovalKey: approvalKey,
  ApprovalRequest: approvalRequest,
  ApprovalDecision: approvalDecision,
  FinishReason: oneOf<FinishReason>({
    stop: true,
    'tool-calls': true,
    length: true,
    'content-filter': true,
    error: true,
    other: true,
  }),
  Report: closed<Report>({
    format: oneOf<Report['format']>({ text: true, markdown: true, json: true }),
    text,
    value: optional(anyJson),
  }),
  Trace: closed<Trace>({ originId: name, parentId: optional(name), callPath: text, turnPath: text }),
  ModelEntry: modelEntry,
  CallEntry: callEntry,
  CallOperation: callOperation,
  TurnOperation: turnOperation,
  Snapshot: snapshot,
  ModelSummary: modelSummary,
  ToolSummary: toolSummary,
  AgentSummary: agentSummary,
  Outcome: closed<ReportedOutcome>(outcomeFields),
  Problem: closed<Problem>({ place: text, message: text, remedy: optional(text), line: optional(text) }),
  ModelAbility: oneOf<ModelAbility>({ tools: true, images: true, files: true, reasoning: true, json_schema: true }),
} satisfies { readonly [name: string]: Schema }
