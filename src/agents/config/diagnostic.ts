import type { Severity } from '../../contracts/index.ts'

/** Something about the configuration that a person should know, though it stops nothing. */
export interface ConfigDiagnostic {
  readonly code:
    | 'config_untrusted'
    | 'config_section_unused'
    | 'config_key_unused'
    | 'config_rule_idle'
    | 'config_part_missing'
    | 'config_not_read'
    | 'provider_left_out'
    | 'variable_unused'
  readonly severity: Severity
  /** `file:line:col`, a file, or a variable. */
  readonly place: string
  readonly message: string
  readonly remedy: string
}
