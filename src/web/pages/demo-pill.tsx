import { useState } from 'preact/hooks'
import { chooseDemoModel } from '../state/actions.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'

/** The answers of the agent files as they are. */
export const recordedModel = 'recorded'

/** Says who answers in the demonstration, and how to connect a model. */
export function DemoPill() {
  const page = usePage()
  const [isOpen, setOpen] = useState(false)
  const { demo, scopes = [] } = page.status.value ?? {}
  if (!demo) return null
  const mayChoose = scopes.includes('admin')
  const isRecorded = demo.model === recordedModel
  return (
    <div class="demo-model">
      <div class="demo-pill line" role="note" aria-label="Model">
        <span>{isRecorded ? 'Demo mode: recorded answers, no AI model.' : `${demo.model} answers.`}</span>
        {isRecorded && (
          <button type="button" class="link-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Connect one
          </button>
        )}
        {!isRecorded && mayChoose && (
          <button type="button" class="link-button" onClick={() => void chooseDemoModel(page, recordedModel)}>
            Back to recorded answers
          </button>
        )}
      </div>
      {isOpen && isRecorded && <ConnectModel />}
    </div>
  )
}

function ConnectModel() {
  const page = usePage()
  const { demo, scopes = [] } = page.status.value ?? {}
  const offers = scopes.includes('admin') ? (demo?.offers ?? []) : []
  return (
    <div class="demo-connect">
      {offers.map(({ model, from }) => (
        <button key={model} type="button" class="button button-small" onClick={() => void chooseDemoModel(page, model)}>
          <Icon name="check" /> Use {model} ({from})
        </button>
      ))}
      <p>
        {offers.length === 0 ? 'No model was found on this machine. ' : 'For another one: '}
        Set <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code>, <code>GEMINI_API_KEY</code> or <code>OPENROUTER_API_KEY</code>, or
        start Ollama. Then start the demonstration again.
      </p>
    </div>
  )
}
