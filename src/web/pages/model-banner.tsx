import { needsModel } from '../state/connect-model.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { DemoPill } from './demo-pill.tsx'

const rehearsal = 'rehearsal'

/** Says that no LLM answers, or none can. The demonstration says so in its own words. */
export function ModelBanner({ models }: { readonly models: readonly string[] }) {
  const { status } = usePage()
  const { demo, connect } = status.value ?? {}
  if (demo) return <DemoPill />
  const [first] = models
  const isMissing = connect !== undefined && models.every((model) => connect.missing.includes(model))
  // The name of another model is beside the agent.
  if (first !== rehearsal && !isMissing) return null
  return (
    <div class={`banner line model-banner ${isMissing ? 'banner-warning' : ''}`} role="note" aria-label="Model">
      <Icon name="reasoning" />
      <div class="grow">
        {isMissing ? (
          <>
            <strong>{first} cannot be used</strong>: no key or server for it was found.{' '}
            {!needsModel(status.value) && 'Choose another model below, or connect it. '}
          </>
        ) : (
          <>
            <strong>Rehearsal answers</strong>: simple rules, no LLM.{' '}
          </>
        )}
        {connect ? <a href={hashOf({ view: 'connect' })}>Connect a model</a> : <KeyHelp />}
      </div>
    </div>
  )
}

/** On other machines than that of the server. */
const KeyHelp = () => (
  <details class="model-help">
    <summary>How to add a key</summary>
    Set <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code>, <code>GEMINI_API_KEY</code> or <code>OPENROUTER_API_KEY</code> in the
    environment of the server, or start a local model server such as Ollama. Then start Troupe again. Agents that set{' '}
    <code>models: rehearsal</code> keep it until you remove that line.
  </details>
)
