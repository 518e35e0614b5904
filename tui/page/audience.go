// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

// audience are the open streams, with the number of those that show a deployment by its id; counted is closed and
// replaced when their number changes.
type audience struct {
	count    int
	selected map[string]int
	counted  chan struct{}
}

// enter counts a stream that shows a deployment, if any; it is refused when there are too many.
func (h *hub) enter(deployment string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= MaxWatchers {
		return false
	}
	h.recount(1, deployment)
	return true
}

func (h *hub) leave(deployment string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recount(-1, deployment)
}

func (h *hub) recount(by int, deployment string) {
	h.count += by
	if h.selected[deployment] += by; h.selected[deployment] == 0 {
		delete(h.selected, deployment)
	}
	close(h.counted)
	h.counted = make(chan struct{})
	h.add("watchers", Watchers{h.count})
}

func (h *hub) watching() (int, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count, h.counted
}
