import type { AgentTool, ToolApproval } from '../../contracts/index.ts'
import { plural } from '../../util/plural.ts'
import { LongText } from '../markdown/long-text.tsx'
import type { SetupState } from '../state/agent-setup.ts'
import { toolGroups } from '../ui/agent-facts.ts'
import { Icon, type IconName } from '../ui/icon.tsx'

/** The tools of an agent. Without `admin`, only their names are known. */
export function AgentTools({ tools, state }: { readonly tools: readonly string[]; readonly state: SetupState }) {
  if (tools.length === 0) return <p class="muted">None.</p>
  if (state.kind !== 'ready')
    return (
      <>
        <Names tools={tools} />
        {state.kind === 'hidden' && (
          <p class="muted small">Their descriptions, and what needs approval, need a token with the scope “admin”.</p>
        )}
      </>
    )
  const { tools: known, sources } = state.setup
  return (
    <>
      {known.length > 0 && <p class="muted small">{sumText(known)}</p>}
      <ul class="rows agent-tools">
        {known.map((tool) => (
          <Tool key={tool.name} tool={tool} />
        ))}
      </ul>
      {sources.length > 0 && (
        <p class="muted small">
          {sources.length === 1 ? 'A server adds its tools' : 'Servers add their tools'} when a session begins: {sources.join(', ')}.
        </p>
      )}
      {known.length === 0 && sources.length === 0 && <Names tools={tools} />}
    </>
  )
}

const approvals: {
  readonly [Each in Exclude<ToolApproval, 'none'>]: { readonly text: string; readonly icon: IconName; readonly tone: string }
} = {
  depends: { text: 'asks first', icon: 'approval', tone: 'warning' },
  ask: { text: 'always asks first', icon: 'approval', tone: 'warning' },
  allow: { text: 'allowed by a rule', icon: 'check', tone: 'ok' },
  deny: { text: 'forbidden by a rule', icon: 'close', tone: 'error' },
}

function sumText(tools: readonly AgentTool[]): string {
  const asking = tools.filter(({ approval }) => approval === 'depends' || approval === 'ask').length
  return `${plural(tools.length, 'tool')}. ${asking === 0 ? 'None needs approval.' : `${asking === 1 ? '1 asks' : `${asking} ask`} first, unless the call is harmless or was allowed before.`}`
}

function Tool({ tool: { name, description, approval } }: { readonly tool: AgentTool }) {
  const said = approval === 'none' ? undefined : approvals[approval]
  return (
    <li class="agent-tool">
      <div class="line">
        <strong class="mono grow">{name}</strong>
        {said && (
          <span class={`badge tone-${said.tone}`}>
            <Icon name={said.icon} /> {said.text}
          </span>
        )}
      </div>
      <p class="muted">
        <LongText text={description} lines={3} characters={300} />
      </p>
    </li>
  )
}

function Names({ tools }: { readonly tools: readonly string[] }) {
  const groups = toolGroups(tools)
  return groups.map(({ source, tools: those }) => (
    <div key={source} class="tool-group">
      {groups.length > 1 && <h4 class="muted small">{source || 'built in'}</h4>}
      <ul class="chips plain-list">
        {those.map((tool) => (
          <li key={tool} class="chip mono">
            {tool === '*' ? 'all tools' : tool}
          </li>
        ))}
      </ul>
    </div>
  ))
}
