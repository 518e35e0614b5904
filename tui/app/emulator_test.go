// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// privateFilter takes out the keyboard protocol requests (CSI < = > …, CSI ? … u), which the emulator
// mistakes for cursor movements. It shows whole frames only.
type privateFilter struct {
	sequence, rest []byte
	// clusters: wide divides text into grapheme clusters; part is a cluster that may go on.
	clusters bool
	part     []byte
	// frame is what was drawn of a frame that is not complete, while framed.
	frame  []byte
	framed bool
}

// whole holds back a character that is not complete yet; the emulator takes writes apart by characters.
func (f *privateFilter) whole(in []byte) []byte {
	in = append(f.rest, in...)
	end := len(in)
	for back := 1; back <= min(len(in), utf8.UTFMax); back++ {
		if utf8.RuneStart(in[len(in)-back]) {
			if !utf8.FullRune(in[len(in)-back:]) {
				end = len(in) - back
			}
			break
		}
	}
	f.rest = append([]byte(nil), in[end:]...)
	return in[:end]
}

func (f *privateFilter) filter(in []byte) []byte {
	out, whole := f.frame, 0
	f.frame = nil
	for _, b := range in {
		switch {
		case len(f.sequence) == 0 && b == 0x1b:
			f.sequence = append(f.sequence, b)
		case len(f.sequence) == 0:
			out = append(out, b)
		case len(f.sequence) == 1 && b != '[':
			out = append(append(out, f.sequence...), b)
			f.sequence = f.sequence[:0]
		default:
			f.sequence = append(f.sequence, b)
			if len(f.sequence) > 2 && b >= 0x40 && b <= 0x7e {
				switch string(f.sequence) {
				case ansi.SetModeSynchronizedOutput:
					f.framed, whole = true, len(out)
				case ansi.ResetModeSynchronizedOutput:
					f.framed = false
				}
				marker := f.sequence[2]
				private := marker == '<' || marker == '=' || marker == '>' || (marker == '?' && (b == 'u' || b == 'p'))
				if !private {
					out = append(out, f.sequence...)
				}
				f.sequence = f.sequence[:0]
			}
		}
	}
	if f.framed {
		out, f.frame = out[:whole:whole], slices.Clone(out[whole:])
	}
	return out
}

// wideFiller stands in the second column of a wide character: the emulator gives every character one column.
const wideFiller = "\ue000"

// wide gives characters the columns that they have on a terminal.
func (f *privateFilter) wide(in []byte) []byte {
	in = slices.Concat(f.part, in)
	f.part = nil
	var out []byte
	for at := 0; at < len(in); {
		if in[at] < utf8.RuneSelf && (at+1 == len(in) || in[at+1] < utf8.RuneSelf) {
			out = append(out, in[at])
			at++
			continue
		}
		_, size := utf8.DecodeRune(in[at:])
		width := ansi.StringWidthWc(string(in[at : at+size]))
		cluster := in[at : at+size]
		if f.clusters {
			cluster, width = ansi.FirstGraphemeCluster(in[at:], ansi.GraphemeWidth)
			if at+len(cluster) == len(in) && len(cluster) > 1 {
				f.part = slices.Clone(cluster)
				break
			}
		}
		if width > 0 {
			out = append(append(out, in[at:at+size]...), bytes.Repeat([]byte(wideFiller), width-1)...)
		}
		at += len(cluster)
	}
	return out
}
