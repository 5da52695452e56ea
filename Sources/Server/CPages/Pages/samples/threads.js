// What direct chats and rooms have in common: how far they are read, who is writing, what is flagged.

import { Files } from "./files.js";
import { NOW } from "./hearth.js";

export class Threads {
  constructor(hearth, people, me) {
    Object.assign(this, { hearth, people, me, files: new Files(hearth, me.uid) });
  }

  /** Follows up to what each has read: a Map of `{upTo}` by uid. */
  observeRead({ key }, tell) {
    return this.hearth.observeValue(`readStatus/${key}`, (read) => tell(new Map(Object.entries(read ?? {}))));
  }

  /** What marks it as read by me. */
  readUntil(thread, lastKey) {
    return { [`readStatus/${thread}/${this.me.uid}`]: { upTo: lastKey, at: NOW } };
  }

  observeTyping({ key }, tell) {
    return this.hearth.observeValue(`typing/${key}`, (typing) => {
      tell(Object.keys(typing ?? {}).filter((uid) => uid !== this.me.uid));
    });
  }

  /** Says that I write something, until I do not; the server takes it back when the connection ends. */
  type({ key }, isTyping) {
    const place = `typing/${key}/${this.me.uid}`;
    if (!this.hearth.isOnline) return;
    const left = isTyping ? this.hearth.leave(place, null) : this.hearth.forgetLeft(place);
    Promise.all([left, this.hearth.set(place, isTyping || null)]).catch(() => {});
  }

  /** Says that something is wrong with a message, or no more. */
  flag({ key }, item, isFlagged) {
    return this.hearth.set(`flags/${key}/${item}/${this.me.uid}`, isFlagged || null);
  }
}
