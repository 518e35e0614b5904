// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package eventwatcher brings events into Git: someone registers an event at the control plane ("the image
// is v2"), and the files that say so in the repository are changed, committed and pushed.
//
// It guarantees that an event is applied at most once, also across restarts: what a killed piped had pushed
// is found in place by the next one. No commit of others is lost: a push that comes too late is repeated on
// top of what is there. Of several events of the same name and labels only the newest counts, the others are
// outdated. An event that no configuration here matches is left alone; it may be another piped's.
//
// The agent creates one Watcher and notifies it of changes. Failures end up in the status of the event, where
// users see them; a control plane or repository that cannot be reached is tried again.
package eventwatcher
