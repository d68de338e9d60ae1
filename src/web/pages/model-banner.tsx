import { useState } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { DemoPill } from './demo-pill.tsx'

const rehearsal = 'rehearsal'

/** Says that no LLM answers. The demonstration says so in its own words. */
export function ModelBanner({ models }: { readonly models: readonly string[] }) {
  const page = usePage()
  const [isHelpOpen, setHelpOpen] = useState(false)
  if (page.status.value?.demo) return <DemoPill />
  // The name of another model is beside the agent.
  if (models[0] !== rehearsal) return null
  return (
    <div class="banner line model-banner" role="note" aria-label="Model">
      <Icon name="reasoning" />
      <span class="grow">
        <strong>Rehearsal answers</strong>: simple rules, no LLM.{' '}
        <button type="button" class="link-button" aria-expanded={isHelpOpen} onClick={() => setHelpOpen(!isHelpOpen)}>
          How to add a key
        </button>
        {isHelpOpen && (
          <span class="model-help">
            Set <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code>, <code>GEMINI_API_KEY</code> or <code>OPENROUTER_API_KEY</code>{' '}
            in the environment of the server, or start a local model server such as Ollama. Then start Troupe again. Agents that set{' '}
            <code>models: rehearsal</code> keep it until you remove that line.
          </span>
        )}
      </span>
    </div>
  )
}
