import { useState } from 'preact/hooks'
import { chooseDemoModel } from '../state/actions.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuButton } from '../ui/menu.tsx'

const rehearsal = 'rehearsal'

interface ModelBannerProps {
  readonly models: readonly string[]
  /** Offers with a button of their own. The others are in a menu. */
  readonly maxButtons?: number
}

/** Says that no LLM answers. The demonstration says which model does, and offers the models that were found. */
export function ModelBanner({ models, maxButtons = 2 }: ModelBannerProps) {
  const page = usePage()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const demo = page.status.value?.demo
  const model = demo?.model ?? models[0]
  // The name of another model is beside the agent.
  if (model === undefined || (model !== rehearsal && !demo)) return null
  const mayChoose = page.status.value?.scopes.includes('admin') ?? false
  const offers = mayChoose ? (demo?.offers ?? []).filter((offer) => offer.model !== model) : []
  return (
    <div class="banner line model-banner" role="note" aria-label="Model">
      <Icon name="reasoning" />
      <span class="grow">
        {model === rehearsal ? (
          <>
            <strong>Rehearsal answers</strong>: simple rules, no LLM.{' '}
            <button type="button" class="link-button" aria-expanded={isHelpOpen} onClick={() => setHelpOpen(!isHelpOpen)}>
              How to add a key
            </button>
            {isHelpOpen && <KeyHelp isDemo={demo !== undefined} />}
          </>
        ) : (
          <>
            <strong>{model}</strong> answers.
          </>
        )}
      </span>
      <div class="model-offers">
        {offers.slice(0, maxButtons).map((offer) => (
          <button
            key={offer.model}
            type="button"
            class="button button-small"
            title={`Found: ${offer.from}`}
            onClick={() => void chooseDemoModel(page, offer.model)}
          >
            Use {offer.model}
          </button>
        ))}
        {offers.length > maxButtons && (
          <MenuButton
            label="More models"
            class="button button-small"
            items={offers
              .slice(maxButtons)
              .map((offer) => ({ label: `${offer.model} (${offer.from})`, onSelect: () => void chooseDemoModel(page, offer.model) }))}
          >
            {maxButtons === 0 ? 'Use a model' : 'More'} <Icon name="chevron" class="icon-down" />
          </MenuButton>
        )}
        {model !== rehearsal && demo && mayChoose && (
          <button type="button" class="button button-small" onClick={() => void chooseDemoModel(page, rehearsal)}>
            Back to rehearsal
          </button>
        )}
      </div>
    </div>
  )
}

function KeyHelp({ isDemo }: { readonly isDemo: boolean }) {
  return (
    <span class="model-help">
      Set <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code>, <code>GEMINI_API_KEY</code> or <code>OPENROUTER_API_KEY</code> in the
      environment of the server, or start a local model server such as Ollama. Then start Troupe again.
      {isDemo ? ' The models that it finds appear here.' : ' Agents that set models: rehearsal keep it until you remove that line.'}
    </span>
  )
}
