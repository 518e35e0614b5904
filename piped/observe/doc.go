// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package observe tells what becomes of deployments, stages and applications, from the calls that report
// it to the control plane.
//
// A Client stands in the way of all calls of piped and passes them on unchanged. After a call that the
// control plane has taken it hands Events to its listeners, so an event is never told of something that
// was not reported. It remembers open deployments and applications, a bounded number of them, because
// reports only name ids.
//
// The agent puts it around its connection; notifications and metrics listen. It cannot fail: a report
// about something unknown gives an event with what the report says.
package observe
