import { chooseDemoModel } from '../state/actions.ts'
import { recordedModel } from '../state/connect-model.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'

/** Says who answers in the demonstration, and how to connect a model. */
export function DemoPill() {
  const page = usePage()
  const { demo, connect, scopes = [] } = page.status.value ?? {}
  if (!demo) return null
  const isRecorded = demo.model === recordedModel
  return (
    <div class="demo-model">
      <div class="demo-pill line" role="note" aria-label="Model">
        <span>Demo · {isRecorded ? 'recorded replies' : `${demo.model} answers`}</span>
        {isRecorded && connect && (
          <>
            <span aria-hidden="true">·</span>
            <a href={hashOf({ view: 'connect' })}>Connect a model</a>
          </>
        )}
        {!isRecorded && scopes.includes('admin') && (
          <button type="button" class="link-button" onClick={() => void chooseDemoModel(page, recordedModel)}>
            Back to recorded replies
          </button>
        )}
      </div>
    </div>
  )
}
