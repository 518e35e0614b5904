// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// sameReport is how long a problem of an object is not reported again; maxReports bounds those that are known.
	sameReport = time.Minute
	maxReports = 1000
)

// newReporter returns a function that records an Event on an object whose requests reach no Service.
func (c *Controller) newReporter() func(owner runtime.Object, problem string) {
	type key struct {
		uid     types.UID
		problem string
	}
	var mu sync.Mutex
	reported := map[key]time.Time{}
	return func(owner runtime.Object, problem string) {
		object, err := meta.Accessor(owner)
		if err != nil {
			return
		}
		of, now := key{object.GetUID(), problem}, c.config.Clock.Now()
		mu.Lock()
		at, known := reported[of]
		again := known && now.Sub(at) < sameReport
		if !again {
			if len(reported) >= maxReports {
				clear(reported)
			}
			reported[of] = now
		}
		mu.Unlock()
		if !again {
			c.recorder.Event(owner, corev1.EventTypeWarning, "NoService", "a request was refused: "+problem)
		}
	}
}
