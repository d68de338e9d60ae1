import type { ContinuesElsewhere } from '../../contracts/index.ts'
import { CopyButton } from './copy-button.tsx'

interface ContinueThereProps extends Omit<ContinuesElsewhere, 'here'> {
  /** Before the reason. */
  readonly said?: string
}

/** Why a session does not continue in this server, and the command that continues it. */
export const ContinueThere = ({ said = '', reason, command }: ContinueThereProps) => (
  <div class="there stack">
    <p class="small">
      {said && `${said} `}
      {reason}
      {command !== undefined && ' Continue it in a shell:'}
    </p>
    {command !== undefined && (
      <div class="there-command line">
        <code class="grow">{command}</code>
        <CopyButton text={command} />
      </div>
    )}
  </div>
)
