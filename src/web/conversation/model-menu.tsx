import type { AgentDescription } from '../../contracts/index.ts'
import { chooseDemoModel } from '../state/actions.ts'
import { offeredModels, recordedModel, shortModel } from '../state/connect-model.ts'
import { type Page, usePage } from '../state/page.ts'
import type { TypedSettings } from '../state/turn-settings.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuButton, type MenuItem } from '../ui/menu.tsx'

interface ModelMenuProps {
  readonly agent: Pick<AgentDescription, 'models'>
  /** What applies now. */
  readonly current: Pick<AgentDescription, 'models'>
  readonly typed: TypedSettings
  onChange(typed: TypedSettings): void
}

/** The model that answers from the next turn on. In the demonstration that of all agents. */
export function ModelMenu(props: ModelMenuProps) {
  const page = usePage()
  const { demo, connect } = page.status.value ?? {}
  const choices = demo ? demoChoices(page) : turnChoices(page, props)
  if (choices.length < 2 && !connect) return null
  const selected = choices.find(({ isSelected }) => isSelected)
  const items: readonly MenuItem[] = [
    ...choices.map(({ label, note, isSelected, onSelect }): MenuItem => ({ label, note, isChecked: isSelected, onSelect })),
    ...(connect ? [{ label: 'Connect a model…', icon: 'plus', onSelect: () => page.go({ view: 'connect' }) } as const] : []),
  ]
  return (
    <MenuButton label="Model" class="model-menu line" items={items} align="start" isNamed>
      <span class="visually-hidden">Model: </span>
      <span class="truncate">{selected?.short ?? 'Model'}</span>
      <Icon name="chevron" class="icon-up" />
    </MenuButton>
  )
}

interface Choice {
  readonly label: string
  readonly short: string
  readonly note?: string | undefined
  readonly isSelected: boolean
  onSelect(): void
}

function turnChoices(page: Page, { agent, current, typed, onChange }: ModelMenuProps): readonly Choice[] {
  const offers = offeredModels(page.status)
  const chosen = typed.model || current.models[0]
  const names = [...new Set([...(chosen === undefined ? [] : [chosen]), ...agent.models, ...offers.map(({ model }) => model)])]
  return names
    .toSorted((one, other) => Number(!agent.models.includes(one)) - Number(!agent.models.includes(other)))
    .map((model) => ({
      label: model,
      short: shortModel(model),
      note: agent.models.includes(model) ? undefined : offers.find((each) => each.model === model)?.from,
      isSelected: model === chosen,
      onSelect: () => onChange({ ...typed, model: model === current.models[0] ? '' : model }),
    }))
}

function demoChoices(page: Page): readonly Choice[] {
  const { demo } = page.status.value ?? {}
  const choice = (model: string, label: string, note?: string): Choice => ({
    ...{ label, note },
    short: model === recordedModel ? label : shortModel(model),
    isSelected: demo?.model === model,
    onSelect: () => void chooseDemoModel(page, model),
  })
  return [choice(recordedModel, 'Recorded replies'), ...offeredModels(page.status).map(({ model, from }) => choice(model, model, from))]
}
