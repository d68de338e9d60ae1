import { useState } from 'preact/hooks'
import { chooseDemoModel } from '../state/actions.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { MenuButton } from '../ui/menu.tsx'

const rehearsal = 'rehearsal'
const maxOffers = 2

/** Which model answers. The demonstration offers the models that were found. `models`: those of the agent, in order of preference. */
export function ModelBanner({ models }: { readonly models: readonly string[] }) {
  const page = usePage()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const demo = page.status.value?.demo
  const model = demo?.model ?? models[0]
  if (model === undefined || (model !== rehearsal && page.settings.value.knownModel === model)) return null
  const mayChoose = page.status.value?.scopes.includes('admin') ?? false
  const offers = mayChoose ? (demo?.offers ?? []).filter((offer) => offer.model !== model) : []
  return (
    <div class="banner model-banner" role="note" aria-label="Model">
      <Icon name="reasoning" />
      <span class="banner-text">
        {model === rehearsal ? (
          <>
            <strong>Rehearsal answers</strong>: simple rules, no LLM.{' '}
            {offers.length === 0 && (
              <button type="button" class="model-link" aria-expanded={isHelpOpen} onClick={() => setHelpOpen(!isHelpOpen)}>
                How to add a key
              </button>
            )}
            {isHelpOpen && offers.length === 0 && <KeyHelp isDemo={demo !== undefined} />}
          </>
        ) : (
          <>
            <strong>{model}</strong> answers.
          </>
        )}
      </span>
      <div class="model-offers">
        {offers.slice(0, maxOffers).map((offer) => (
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
        {offers.length > maxOffers && (
          <MenuButton
            label="More models"
            class="button button-small"
            items={offers
              .slice(maxOffers)
              .map((offer) => ({ label: `${offer.model} (${offer.from})`, onSelect: () => void chooseDemoModel(page, offer.model) }))}
          >
            More
          </MenuButton>
        )}
        {model !== rehearsal && demo && mayChoose && (
          <button type="button" class="button button-small" onClick={() => void chooseDemoModel(page, rehearsal)}>
            Back to rehearsal
          </button>
        )}
      </div>
      {model !== rehearsal && <IconButton icon="close" label="Close" onClick={() => page.set({ knownModel: model })} />}
    </div>
  )
}

function KeyHelp({ isDemo }: { readonly isDemo: boolean }) {
  return (
    <span class="model-help">
      Set <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code>, <code>GEMINI_API_KEY</code> or <code>OPENROUTER_API_KEY</code> in the
      environment of the server, or start a local model server such as Ollama. Then start Troupe again.
      {isDemo ? ' The models that it finds appear here.' : ' Agents whose file names rehearsal in models keep it: remove that line.'}
    </span>
  )
}
