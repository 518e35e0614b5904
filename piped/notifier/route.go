// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package notifier

import (
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/observe"
)

// route decides which events a receiver gets.
type route struct {
	config.NotificationRoute
	to *receiver
}

func newRoute(c config.NotificationRoute, to *receiver) (route, error) {
	if to == nil {
		return route{}, fmt.Errorf("there is no receiver %q; add it to spec.notifications.receivers", c.Receiver)
	}
	// A name that no event has matches none: the validator warns of it, and another version may know it.
	return route{c, to}, nil
}

// matches follows PipeCD v1: what any ignore list names is rejected; then every list that is given has to
// name the event. Lists of applications and labels say nothing about events that belong to none.
func (r *route) matches(e *observe.Event) bool {
	kind, group, application := e.Type.String(), string(e.Type.Group()), e.ApplicationName()
	labels, labelled := e.Labels()
	has := func(key, value string) bool {
		got, ok := labels[key]
		return ok && got == value
	}
	switch {
	case slices.Contains(r.IgnoreEvents, kind), slices.Contains(r.IgnoreGroups, group):
		return false
	case application != "" && slices.Contains(r.IgnoreApps, application):
		return false
	case len(r.Events) > 0 && !slices.Contains(r.Events, kind), len(r.Groups) > 0 && !slices.Contains(r.Groups, group):
		return false
	case application != "" && len(r.Apps) > 0 && !slices.Contains(r.Apps, application):
		return false
	}
	for key, value := range r.IgnoreLabels {
		if has(key, value) {
			return false
		}
	}
	for key, value := range r.Labels {
		if labelled && !has(key, value) {
			return false
		}
	}
	return true
}
