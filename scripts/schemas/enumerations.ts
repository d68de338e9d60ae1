import { exitByFailure } from '../../src/cli/terminal/exit-codes.ts'
import {
  type CallOperation,
  callItemTypes,
  type DiagnosticCode,
  type ItemStatus,
  type TextItemType,
  toolFailureClasses,
} from '../../src/contracts/index.ts'
import { turnEndTexts } from '../../src/policy/limit-texts.ts'
import type { StartDiagnostic } from '../../src/project/index.ts'
import { memberOf, oneOf, type Schema } from './shapes.ts'

// Enumerations.

export const modelFailureClass: Schema = memberOf(Object.keys(exitByFailure))
export const toolFailureClass: Schema = memberOf(toolFailureClasses)
export const turnReason: Schema = memberOf(Object.keys(turnEndTexts))
export const diagnosticCode = oneOf<DiagnosticCode>({
  agent_changed: true,
  agent_unmatched: true,
  answer_truncated: true,
  limit_reached: true,
  queue_late: true,
  child_control_unused: true,
  children_late: true,
  approval_late: true,
  call_unknown: true,
  compaction_failed: true,
  compaction_poor: true,
  grant_not_kept: true,
  hook_overruled: true,
  message_invalid: true,
  model_excluded: true,
  model_notice: true,
  policy_changed: true,
  sandbox_missing: true,
  sandbox_off: true,
  skill_changed: true,
  skill_missing: true,
  skills_cut: true,
  source_failed: true,
  source_notice: true,
  tool_approval_failed: true,
  tool_missing: true,
  tool_invalid: true,
  tools_withheld: true,
  tool_output_invalid: true,
})

export const startDiagnosticCode = oneOf<StartDiagnostic['code']>({
  agent_broken: true,
  agent_config_unused: true,
  agent_disabled: true,
  agent_model_unknown: true,
  agent_setting_idle: true,
  agent_tools_absent: true,
  agent_untrusted: true,
  config_key_unused: true,
  config_not_read: true,
  config_part_missing: true,
  config_rule_idle: true,
  config_untrusted: true,
  foreign_agent: true,
  provider_left_out: true,
  server_left_out: true,
  usage_missing: true,
  variable_unused: true,
})

const itemStatuses = { completed: true, failed: true, declined: true, interrupted: true, skipped: true, unknown: true } as const
export const itemStatus = oneOf<ItemStatus>(itemStatuses)
export const callStatus = oneOf<CallOperation['status']>({ ...itemStatuses, suspended: true })
export const callType = memberOf(callItemTypes)
export const textType = oneOf<TextItemType>({ agent_message: true, reasoning: true, error: true })
