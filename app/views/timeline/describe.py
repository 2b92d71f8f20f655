"""Says in words what a timeline shows, for the pointer's tip and for screen readers."""

import numpy as np

from app.i18n import tr
from app.names import shown_name
from app.views.timeline.scene import TimelineScene
from app.views.transcript.spans import describe_span
from engine.core.timebase import format_time
from engine.core.types import MAX_SPEAKERS, SpanKind, SpeakerId

_LEAST_PROBABILITY = 0.05
_MAX_WORDS = 12


def describe_moment(scene: TimelineScene, time_s: float) -> str:
    """Return time, speakers and probabilities, words and marks of a moment, a line each."""
    lines = [format_time(max(0.0, time_s), decimals=1)]
    lines += _speakers(scene, time_s)
    lines += _words(scene, time_s)
    sample = int(time_s * scene.document.sample_rate)
    for kind in SpanKind:
        for span in scene.spans.touching(kind, sample, sample):
            if span.start <= sample < span.end:
                lines.append(describe_span(span, scene.document.sample_rate))
    return "\n".join(lines)


def describe_row(scene: TimelineScene, row: int, start_s: float, end_s: float, now_s: float) -> str:
    """Return a row's name, its share of a stretch, and whether it is active now."""
    if row >= len(scene.rows):
        return tr("Own voice: what this program itself said")
    name = shown_name(scene.document, scene.rows[row].speaker)
    frame_s, activity = scene.activity.frame_s, scene.activity
    first, end = int(max(0.0, start_s) / frame_s), int(end_s / frame_s)
    end = min(end, activity.num_frames)
    share = 0.0
    if end > first:
        columns = activity.columns(np.array([first, end], np.int64))
        share = float(columns.active[row, 0] + columns.assigned[row, 0])
    now = int(now_s / frame_s)
    heard = activity.frames(now, now + 1) if 0 <= now < activity.num_frames else ()
    text = (
        tr("{name}: {share} of the time shown, speaking now", name=name, share=f"{share:.0%}")
        if any(rows[row, 0] for rows in heard)
        else tr("{name}: {share} of the time shown, silent now", name=name, share=f"{share:.0%}")
    )
    merged = scene.document.merged_into(scene.rows[row].speaker)
    if merged:
        letters = ", ".join(speaker.letter for speaker in merged)
        text += "\n" + tr("One person with {letters}", letters=letters)
    return text


def _speakers(scene: TimelineScene, time_s: float) -> list[str]:
    track = scene.document.activity
    if track.frame_ms == 0 or time_s < 0:
        return []
    frame = int(time_s * 1000 / track.frame_ms)
    rows, epoch = track.rows(frame, frame + 1), track.epoch_at(frame)
    if len(rows) == 0:
        return []
    heard: dict[SpeakerId, float] = {}
    for slot in range(MAX_SPEAKERS):
        speaker = scene.document.resolve(SpeakerId(epoch, slot))
        heard[speaker] = max(heard.get(speaker, 0.0), float(rows[0, slot]))
    order = sorted(heard, key=lambda speaker: -heard[speaker])
    lines = [
        tr(
            "{name}: {probability}",
            name=shown_name(scene.document, speaker),
            probability=f"{heard[speaker]:.0%}",
        )
        for speaker in order
        if heard[speaker] >= _LEAST_PROBABILITY
    ]
    if sum(value >= scene.activity.threshold for value in heard.values()) > 1:
        lines.append(tr("Several people speak at once"))
    if frame >= track.final_until:
        lines.append(tr("Who speaks may still change"))
    elif track.is_settled_at(frame):
        lines.append(tr("Who speaks is settled: looked at again with everything around it"))
    else:
        lines.append(tr("Who speaks is final"))
    return lines


def _words(scene: TimelineScene, time_s: float) -> list[str]:
    """Return the words at a moment, and that the user gave them to somebody."""
    document = scene.document
    sample = int(time_s * document.sample_rate)
    reach = max(1, round(scene.samples_per_px))
    places = scene.words.touching(sample, sample + reach)[:_MAX_WORDS]
    entries = [document.words[place] for place in places]
    partial = [word for word in document.partial if word.start <= sample < word.end]
    lines = []
    if entries:
        text = "".join(entry.word.text for entry in entries).strip()
        lines.append(tr("“{words}”", words=text))
        for entry in entries[:1]:
            if entry.heard is not None:
                lines.append(tr("Corrected; it was heard as “{words}”", words=entry.heard.strip()))
            if entry.is_locked:
                lines.append(tr("Who said it was told by you"))
    if partial:
        text = "".join(word.text for word in partial).strip()
        lines.append(tr("“{words}” (may still change)", words=text))
    return lines
