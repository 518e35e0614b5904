// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestOnlyAStatusLeavesAnObjectAsItWasSeen(t *testing.T) {
	t.Parallel()
	object := func(change func(*metav1.ObjectMeta)) *metav1.ObjectMeta {
		o := &metav1.ObjectMeta{UID: "u", Generation: 3, ResourceVersion: "7", Labels: map[string]string{"a": "b"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "piped", Operation: "Apply"},
				{Manager: "controller", Operation: "Update", Subresource: "status"}}}
		change(o)
		return o
	}
	same := func(*metav1.ObjectMeta) {}
	for name, c := range map[string]struct {
		change    func(*metav1.ObjectMeta)
		unchanged bool
	}{
		"its status": {unchanged: true, change: func(o *metav1.ObjectMeta) {
			o.ResourceVersion = "8"
			o.ManagedFields[1].Time = &metav1.Time{Time: time.Unix(1, 0)}
		}},
		"its specification": {change: func(o *metav1.ObjectMeta) { o.Generation = 4 }},
		"its labels":        {change: func(o *metav1.ObjectMeta) { o.Labels = nil }},
		"its finalizers":    {change: func(o *metav1.ObjectMeta) { o.Finalizers = []string{"example.com/hold"} }},
		"its owners": {change: func(o *metav1.ObjectMeta) {
			o.OwnerReferences = []metav1.OwnerReference{{UID: "v"}}
		}},
		"who manages it": {change: func(o *metav1.ObjectMeta) { o.ManagedFields[0].Manager = "kubectl" }},
		"another object": {change: func(o *metav1.ObjectMeta) { o.UID = "v" }},
		"its end":        {change: func(o *metav1.ObjectMeta) { o.DeletionTimestamp = &metav1.Time{} }},
	} {
		require.Equal(t, c.unchanged, printOfLive(object(same)).is(printOfLive(object(c.change))), name)
	}
	plain := func(version string) *metav1.ObjectMeta { return &metav1.ObjectMeta{UID: "u", ResourceVersion: version} }
	require.True(t, printOfLive(plain("7")).is(printOfLive(plain("7"))))
	require.False(t, printOfLive(plain("7")).is(printOfLive(plain("8"))), "a kind without a generation")
}

func TestWhatIsSeenHasABound(t *testing.T) {
	t.Parallel()
	s := NewSeen()
	is := seen{manifest: printOf("m"), live: printOf("l")}
	for i := range maxSeen + 10 {
		s.note(types.UID(fmt.Sprint(i)), is)
	}
	require.LessOrEqual(t, len(s.objects), maxSeen)
	require.True(t, s.has(types.UID(fmt.Sprint(maxSeen+9)), is))
	require.False(t, s.has("0", is), "forgotten, so that it is sent again")
	require.False(t, s.has(types.UID(fmt.Sprint(maxSeen+9)), seen{manifest: printOf("n"), live: is.live}))
}
