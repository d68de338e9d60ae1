import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApprovalDecision, Question } from '../../contracts/index.ts'
import { exactLine, exactText } from '../../util/exact-text.ts'
import { DeclineActions } from './approval-actions.tsx'
import { QuestionForm } from './question-form.tsx'

interface QuestionAnswerProps {
  readonly question: Question
  onDecide(decision: ApprovalDecision): void
}

/** How a question can be answered: by an option, a text, a form, or by opening an address. Or not at all. */
export function QuestionAnswer({ question, onDecide }: QuestionAnswerProps) {
  const { options = [], form, url } = question
  const decline = <DeclineActions onDecide={onDecide} />
  return (
    <>
      {url !== undefined && <Address url={url} />}
      {form && (
        <QuestionForm form={form} onFilled={(content) => onDecide({ kind: 'answer', text: '', content })}>
          {decline}
        </QuestionForm>
      )}
      {!form && url !== undefined && (
        <div class="line">
          <button type="button" class="button button-primary" onClick={() => onDecide({ kind: 'answer', text: 'done' })}>
            I am done
          </button>
          {decline}
        </div>
      )}
      {options.length > 0 && (
        <div class="approval-row line">
          {options.map((option) => (
            <button key={option} type="button" class="button approval-option" onClick={() => onDecide({ kind: 'answer', text: option })}>
              {exactLine(option)}
            </button>
          ))}
        </div>
      )}
      {!form && url === undefined && (
        <FreeAnswer placeholder={options.length > 0 ? 'Or your own answer' : 'Your answer'} onDecide={onDecide}>
          {decline}
        </FreeAnswer>
      )}
    </>
  )
}

interface FreeAnswerProps extends Pick<QuestionAnswerProps, 'onDecide'> {
  readonly placeholder: string
  readonly children: ComponentChildren
}

function FreeAnswer({ placeholder, onDecide, children }: FreeAnswerProps) {
  const [text, setText] = useState('')
  return (
    <form
      class="approval-row line approval-deny"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim() !== '') onDecide({ kind: 'answer', text: text.trim() })
      }}
    >
      <input
        class="field grow"
        aria-label="Answer"
        placeholder={placeholder}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="button" disabled={text.trim() === ''}>
        Answer
      </button>
      {children}
    </form>
  )
}

/** The host first: it may hide in a long address. Only web addresses become links. */
function Address({ url }: { readonly url: string }) {
  const parsed = URL.parse(url)
  const isWeb = parsed?.protocol === 'https:' || parsed?.protocol === 'http:'
  return (
    <div class="approval-address stack">
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
