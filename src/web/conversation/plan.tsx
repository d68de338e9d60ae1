import type { Plan, PlanStatus } from '../../contracts/index.ts'
import type { NodeId } from '../../view/index.ts'
import { Icon } from '../ui/icon.tsx'
import { Disclosure } from './disclosure.tsx'

const marks: { readonly [Status in PlanStatus]: string } = { completed: 'done', in_progress: 'in progress', pending: 'to do' }

/** The plan of a turn as a checklist. It closes when everything is done. */
export function PlanView({ id, plan: { steps, explanation } }: { readonly id: NodeId; readonly plan: Plan }) {
  const done = steps.filter(({ status }) => status === 'completed').length
  const line = (
    <>
      <Icon name="plan" />
      <span>Plan</span>
      <span class="muted">
        {done} of {steps.length} done
      </span>
    </>
  )
  return (
    <Disclosure id={id} isOpenAtFirst={done < steps.length} line={() => line}>
      <ol class="plan-steps stack plain-list">
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
    </Disclosure>
  )
}
