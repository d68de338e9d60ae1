import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionDocument } from '../api/documents.ts'
import { deleteSession, renameSession } from '../state/actions.ts'
import { usePage } from '../state/page.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
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
    <FormDialog
      title="Rename session"
      action="Rename"
      isDisabled={title.trim() === ''}
      onAct={() => void renameSession(page, session, title.trim()).then((isDone) => isDone && onClose())}
      onClose={onClose}
    >
      <label>
        Title
        <input class="field" value={title} maxLength={200} onInput={({ currentTarget }) => setTitle(currentTarget.value)} />
      </label>
    </FormDialog>
  )
}

function DeleteDialog({ session, onClose }: SessionDialogProps) {
  const page = usePage()
  return (
    <FormDialog
      title="Delete session"
      heading="Delete this session?"
      action="Delete"
      isDanger
      onAct={() => void deleteSession(page, session).then((isDone) => isDone && onClose())}
      onClose={onClose}
    >
      <p class="clamp-3">{session.title || session.agent}</p>
      <p class="muted">
        Its messages, results and stored outputs are deleted{session.status === 'running' ? ', and the running turn ends' : ''}. This cannot
        be undone.
      </p>
    </FormDialog>
  )
}
