// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var events = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// eventTimeout bounds the first look at the Events of a kind: an object is reported without them then.
const eventTimeout = 5 * time.Second

// waitsSilently reports objects that wait for a controller and whose status does not say why: their Events do.
func waitsSilently(o *unstructured.Unstructured) bool {
	switch o.GroupVersionKind().GroupKind().String() {
	case "PersistentVolumeClaim":
		return text(o, "status", "phase") != "Bound"
	case "Service":
		return text(o, "spec", "type") == "LoadBalancer" && !hasAddress(o)
	case "Ingress.networking.k8s.io":
		return !hasAddress(o)
	}
	return false
}

// eventOf is what the newest Event says of an object that waits silently, a warning before others; empty for any other
// object, without an Event, and where Events may not be read. The Events of the kind are watched from then on, so that
// a newer one has the application reported.
func (w *watched) eventOf(ctx context.Context, o *unstructured.Unstructured) string {
	key := informerKey{gvr: events, namespace: o.GetNamespace(), kind: o.GetKind()}
	if w == nil || !waitsSilently(o) || w.isBarred(key) {
		return ""
	}
	i, err := w.informer(key)
	if err != nil {
		return ""
	}
	bounded, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	if err := i.filled(bounded); err != nil {
		if apierrors.IsForbidden(err) {
			w.bar(key)
		}
		return ""
	}
	var newest *unstructured.Unstructured
	for _, event := range i.find(byInvolved, string(o.GetUID())) {
		if newest == nil || rank(event) > rank(newest) {
			newest = event
		}
	}
	if newest == nil {
		return ""
	}
	return said(text(newest, "reason"), text(newest, "message"))
}

// rank is larger for an Event that explains more: for a warning, then for the one that was seen last.
func rank(event *unstructured.Unstructured) string {
	last := ""
	for _, path := range [][]string{{"firstTimestamp"}, {"lastTimestamp"}, {"eventTime"},
		{"series", "lastObservedTime"}} {
		last = max(last, text(event, path...)) // all are in UTC
	}
	if text(event, "type") == "Warning" {
		return "1 " + last
	}
	return "0 " + last
}

// indexInvolved finds Events by the object that they are about.
func indexInvolved(o any) ([]string, error) {
	event, ok := o.(*unstructured.Unstructured)
	if !ok {
		return nil, nil
	}
	return []string{text(event, "involvedObject", "uid")}, nil
}

// trimEvent keeps what is said of an Event.
func trimEvent(o any) (any, error) {
	event, ok := o.(*unstructured.Unstructured)
	if !ok {
		return o, nil
	}
	event.SetManagedFields(nil)
	event.SetAnnotations(nil)
	return event, nil
}

// sawEvent marks the application of the object that an Event is about.
func (w *watched) sawEvent(event *unstructured.Unstructured) {
	uid := text(event, "involvedObject", "uid")
	for _, i := range w.all() {
		if found := i.find(byUID, uid); len(found) > 0 {
			w.changed(found[0])
			return
		}
	}
}
