// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import "bytes"

// markerWriter looks for a text in what is written to it, so that a binary is read once for its hash and for
// what it can do.
type markerWriter struct {
	marker []byte
	found  bool
	tail   []byte // the end of what came before, in which the marker may have begun
}

func (w *markerWriter) Write(p []byte) (int, error) {
	if w.found {
		return len(p), nil
	}
	joint := append(bytes.Clone(w.tail), p[:min(len(p), len(w.marker)-1)]...)
	w.found = bytes.Contains(joint, w.marker) || bytes.Contains(p, w.marker)
	end := p
	if len(p) < len(w.marker)-1 {
		end = joint
	}
	w.tail = bytes.Clone(end[max(0, len(end)-len(w.marker)+1):])
	return len(p), nil
}
