import type { Problem, Severity } from '../../contracts/index.ts'

/** A finding about agents that stops nothing. */
export interface AgentDiagnostic {
  readonly code:
    | 'agent_disabled'
    | 'agent_broken'
    | 'agent_untrusted'
    | 'agent_tools_absent'
    | 'agent_setting_idle'
    | 'agent_model_unknown'
    | 'agent_config_unused'
    | 'foreign_agent'
    | 'usage_missing'
  readonly severity: Severity
  /** `file:line:col`, or a file. */
  readonly place: string
  readonly message: string
  readonly remedy?: string
}

export function warningOf({ place, message, remedy }: Problem, code: AgentDiagnostic['code']): AgentDiagnostic {
  return { code, severity: 'warning', place, message, ...(remedy !== undefined && { remedy }) }
}
