// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package observe derives events of deployments, stages and applications from the calls that report them to the control
// plane.
//
// An Observer is a layer that all calls of piped pass; it passes them on unchanged. After a call that the control plane
// has taken it sends Events to its listeners, so there is never an event of something that was not reported. It
// remembers open deployments and applications, a bounded number of them, because reports only name ids.
//
// Package agent creates the Observer; notifications and metrics listen. It cannot fail: a report about something
// unknown gives an event with what the report says.
package observe
