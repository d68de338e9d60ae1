import type { Plan, PlanStatus } from '../../contracts/index.ts'
import type { NodeId } from '../../view/index.ts'
import { Icon } from '../ui/icon.tsx'
import { useView } from './conversation-view.ts'

const marks: { readonly [Status in PlanStatus]: string } = { completed: 'done', in_progress: 'in progress', pending: 'to do' }

/** The plan of a turn as a checklist. It closes when everything is done. */
export function PlanView({ id, plan: { steps, explanation } }: { readonly id: NodeId; readonly plan: Plan }) {
  const view = useView()
  const done = steps.filter(({ status }) => status === 'completed').length
  const open = view.open(id)
  const isOpen = open.value ?? done < steps.length
  return (
    <div class="plan">
      <button
        type="button"
        class="line-button"
        aria-expanded={isOpen}
        onClick={() => {
          view.hold()
          open.value = !isOpen
        }}
      >
        <Icon name="chevron" class="line-chevron" />
        <Icon name="plan" />
        <span>Plan</span>
        <span class="muted">
          {done} of {steps.length} done
        </span>
      </button>
      {isOpen && (
        <ol class="plan-steps plain-list">
          {steps.map(({ step, status }, index) => (
            <li key={index} class={`plan-step plan-${status}`}>
              <span class="plan-mark" role="img" aria-label={marks[status]}>
                {status === 'completed' && <Icon name="check" />}
              </span>
              <span>{step}</span>
            </li>
          ))}
          {explanation !== undefined && <li class="plan-why muted small">{explanation}</li>}
        </ol>
      )}
    </div>
  )
}
