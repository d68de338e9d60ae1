import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionDocument } from '../api/documents.ts'
import { deleteSession, renameSession } from '../state/actions.ts'
import { usePage } from '../state/page.ts'
import { Dialog } from '../ui/dialog.tsx'
import type { MenuItem } from '../ui/menu.tsx'

interface SessionDialogProps {
  readonly session: SessionDocument
  onClose(): void
}

/** Entries of a menu that rename and delete a session, and the dialog that is open. */
export function useSessionDialogs(session: SessionDocument): { readonly items: readonly MenuItem[]; readonly dialog: ComponentChildren } {
  const [open, setOpen] = useState<'rename' | 'delete' | undefined>()
  const Open = open && { rename: RenameDialog, delete: DeleteDialog }[open]
  return {
    items: [
      { label: 'Rename', icon: 'edit', onSelect: () => setOpen('rename') },
      { label: 'Delete', icon: 'trash', isDanger: true, onSelect: () => setOpen('delete') },
    ],
    dialog: Open && <Open session={session} onClose={() => setOpen(undefined)} />,
  }
}

function RenameDialog({ session, onClose }: SessionDialogProps) {
  const page = usePage()
  const [title, setTitle] = useState(session.title)
  return (
    <Dialog title="Rename session" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void renameSession(page, session, title.trim()).then((isDone) => isDone && onClose())
        }}
      >
        <h2>Rename session</h2>
        <label>
          Title
          <input class="field" value={title} maxLength={200} onInput={({ currentTarget }) => setTitle(currentTarget.value)} />
        </label>
        <div class="dialog-actions line">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" disabled={title.trim() === ''}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function DeleteDialog({ session, onClose }: SessionDialogProps) {
  const page = usePage()
  return (
    <Dialog title="Delete session" onClose={onClose}>
      <h2>Delete this session?</h2>
      <p class="clamp-3">{session.title || session.agent}</p>
      <p class="muted">
        Its messages, results and stored outputs are deleted{session.status === 'running' ? ', and the running turn ends' : ''}. This cannot
        be undone.
      </p>
      <div class="dialog-actions line">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-danger"
          onClick={() => void deleteSession(page, session).then((isDone) => isDone && onClose())}
        >
          Delete
        </button>
      </div>
    </Dialog>
  )
}
