import { useState } from 'preact/hooks'
import type { ApprovalDecision, Question } from '../../contracts/index.ts'
import { exactLine, exactText } from '../../util/exact-text.ts'
import { QuestionForm } from './question-form.tsx'

interface QuestionAnswerProps {
  readonly question: Question
  onDecide(decision: ApprovalDecision): void
}

/** How a question can be answered: by an option, a text, a form, or by opening an address. */
export function QuestionAnswer({ question, onDecide }: QuestionAnswerProps) {
  const { options = [], form, url } = question
  if (form)
    return (
      <>
        {url !== undefined && <Address url={url} />}
        <QuestionForm form={form} onFilled={(content) => onDecide({ kind: 'answer', text: '', content })} />
      </>
    )
  if (url !== undefined)
    return (
      <>
        <Address url={url} />
        <div>
          <button type="button" class="button button-primary" onClick={() => onDecide({ kind: 'answer', text: 'done' })}>
            I am done
          </button>
        </div>
      </>
    )
  return (
    <>
      {options.length > 0 && (
        <div class="approval-options">
          {options.map((option) => (
            <button key={option} type="button" class="button approval-option" onClick={() => onDecide({ kind: 'answer', text: option })}>
              {exactLine(option)}
            </button>
          ))}
        </div>
      )}
      <FreeAnswer placeholder={options.length > 0 ? 'Or your own answer' : 'Your answer'} onDecide={onDecide} />
    </>
  )
}

function FreeAnswer({ placeholder, onDecide }: { readonly placeholder: string; onDecide(decision: ApprovalDecision): void }) {
  const [text, setText] = useState('')
  return (
    <form
      class="approval-row line"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') onDecide({ kind: 'answer', text: text.trim() })
      }}
    >
      <input
        class="field approval-grow"
        aria-label="Answer"
        placeholder={placeholder}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="button" disabled={text.trim() === ''}>
        Answer
      </button>
    </form>
  )
}

/** The host first: it may hide in a long address. Only web addresses become links. */
function Address({ url }: { readonly url: string }) {
  const parsed = URL.parse(url)
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
  return (
    <div class="approval-address">
      <p>
        Open this address of <strong>{exactLine(parsed?.host ?? 'an unknown server')}</strong> yourself:
      </p>
      <code>{exactText(url)}</code>
      {isWeb && (
        <a class="button button-small" href={parsed.href} target="_blank" rel="noopener noreferrer">
          Open in a new tab
        </a>
      )}
    </div>
  )
}
