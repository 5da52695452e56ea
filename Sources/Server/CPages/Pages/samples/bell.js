// Tells that something new has come: how much in the title of the window, and by a sound that can be turned off.

const place = "hearth.samples.silent";
const title = document.title;

export class Bell {
  #counts = null;
  #audio = null;

  /** `button` turns the sound on and off, for the next visits too. */
  constructor(button) {
    this.isOn = localStorage.getItem(place) === null;
    const draw = () => {
      button.setAttribute("aria-pressed", String(this.isOn));
      button.title = this.isOn ? "Sound is on" : "Sound is off";
    };
    button.addEventListener("click", () => {
      this.isOn = !this.isOn;
      if (this.isOn) localStorage.removeItem(place);
      else localStorage.setItem(place, "true");
      draw();
    });
    draw();
  }

  /** Takes what is unread in each thread, a Map by key. What is there at first makes no sound. */
  tell(counts) {
    const before = this.#counts;
    this.#counts = counts;
    const sum = [...counts.values()].reduce((all, count) => all + (count > 0 ? count : 0), 0);
    document.title = sum ? `(${sum > 99 ? "99+" : sum}) ${title}` : title;
    const isNews = before && [...counts].some(([key, count]) => count > (before.get(key) ?? 0));
    // Browsers make no sound before a person has done something in the window.
    if (isNews && this.isOn && navigator.userActivation?.hasBeenActive) this.#ring();
  }

  /** Two short tones. */
  #ring() {
    this.#audio ??= new AudioContext();
    for (const [start, pitch] of [[0, 880], [0.12, 1175]]) {
      const tone = this.#audio.createOscillator();
      const volume = this.#audio.createGain();
      const at = this.#audio.currentTime + start;
      tone.frequency.value = pitch;
      volume.gain.setValueAtTime(0.08, at);
      volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.2);
      tone.connect(volume).connect(this.#audio.destination);
      tone.start(at);
      tone.stop(at + 0.2);
    }
  }
}
