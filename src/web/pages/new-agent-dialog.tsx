import { useState } from 'preact/hooks'
import type { AgentDescription } from '../../contracts/index.ts'
import { download } from '../state/outputs.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { freeName, isAgentName, newAgentText } from './new-agent-text.ts'

interface NewAgentProps {
  readonly agent: AgentDescription
  readonly template: string
  readonly prompt: string | undefined
  /** Names of agents that exist. */
  readonly taken: readonly string[]
  onClose(): void
}

/** The file of a new agent, to copy or to download: the page writes no files. */
export function NewAgentDialog({ agent, template, prompt, taken, onClose }: NewAgentProps) {
  const [name, setName] = useState(() => freeName(agent.name, taken))
  const [text, setText] = useState(() => newAgentText({ template, prompt }))
  const problem = !isAgentName(name)
    ? 'Use letters, digits, - and _.'
    : taken.includes(name)
      ? `There is an agent ${name} already.`
      : undefined
  return (
    <Dialog title="Start a new agent from this one" class="new-agent" onClose={onClose}>
      <h2>Start a new agent from this one</h2>
      <p class="muted">
        It begins with the settings{prompt !== undefined && ' and the prompt'} of {agent.name}. Save the text as{' '}
        <code>{name || 'NAME'}.ai</code> in the folder with the agent files of the project, often <code>agents/</code>. The name of the file
        is the name of the agent.
      </p>
      <label class="new-agent-name">
        <span>Name</span>
        <input
          class="field mono"
          value={name}
          aria-invalid={problem !== undefined}
          aria-describedby="new-agent-problem"
          onInput={({ currentTarget }) => setName(currentTarget.value.trim())}
        />
      </label>
      <p id="new-agent-problem" class="small tone-error" role="status">
        {problem}
      </p>
      <textarea
        class="field mono"
        aria-label="Text of the file"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {prompt === undefined && <p class="small muted">The prompt is missing: your token cannot read it. Write one below the settings.</p>}
      <div class="dialog-actions line">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
        <CopyButton text={text} />
        <button
          type="button"
          class="button button-primary"
          disabled={problem !== undefined}
          onClick={() => download(new Blob([text], { type: 'text/plain' }), `${name}.ai`)}
        >
          <Icon name="download" /> Download {problem === undefined && `${name}.ai`}
        </button>
      </div>
    </Dialog>
  )
}
