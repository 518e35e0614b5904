// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	fakediscovery "k8s.io/client-go/discovery/fake"
	fakemetadata "k8s.io/client-go/metadata/fake"
	"k8s.io/client-go/restmapper"
	clienttesting "k8s.io/client-go/testing"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

type log struct{ text strings.Builder }

func (l *log) Infof(format string, args ...any)    { fmt.Fprintf(&l.text, format+"\n", args...) }
func (l *log) Successf(format string, args ...any) { l.Infof(format, args...) }
func (l *log) Errorf(format string, args ...any)   { l.Infof(format, args...) }

func object(apiVersion, kind, namespace, name string, change ...func(*metav1.PartialObjectMetadata)) runtime.Object {
	o := &metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: types.UID(kind + name),
			Labels:      map[string]string{"pipecd.dev/managed-by": "piped", "pipecd.dev/application": "app"},
			Annotations: map[string]string{"pipecd.dev/managed-by": "piped"},
		},
	}
	for _, c := range change {
		c(o)
	}
	return o
}

func newClient(t *testing.T, objects ...runtime.Object) (*cluster.Client, *fakemetadata.FakeMetadataClient) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, metav1.AddMetaToScheme(scheme))
	metadata := fakemetadata.NewSimpleMetadataClient(scheme, objects...)
	verbs := metav1.Verbs{"list", "delete", "get"}
	discovery := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
			{Name: "services", Kind: "Service", Namespaced: true, Verbs: verbs},
			{Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: verbs},
			{Name: "namespaces", Kind: "Namespace", Verbs: verbs},
			{Name: "events", Kind: "Event", Namespaced: true, Verbs: verbs},
			{Name: "bindings", Kind: "Binding", Namespaced: true, Verbs: metav1.Verbs{"create"}},
		}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "deployments", Kind: "Deployment", Namespaced: true, Verbs: verbs},
			{Name: "deployments/scale", Kind: "Scale", Namespaced: true, Verbs: verbs},
		}},
		{GroupVersion: "example.com/v1", APIResources: []metav1.APIResource{
			{Name: "wads", Kind: "Wad", Namespaced: true, Verbs: verbs},
		}},
	}}}
	cached := memory.NewMemCacheClient(discovery)
	return &cluster.Client{Metadata: metadata, Discovery: cached,
		Mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached)}, metadata
}

func keys(items []inventory.Item) []string {
	var all []string
	for _, i := range items {
		all = append(all, i.Key.String())
	}
	return all
}

func TestOnlyWhatPipedManagesIsFound(t *testing.T) {
	t.Parallel()
	c, _ := newClient(t,
		object("v1", "ConfigMap", "prod", "mine"),
		object("v1", "Namespace", "", "ns"),
		object("v1", "Event", "prod", "event"),
		object("v1", "ConfigMap", "prod", "owned", func(o *metav1.PartialObjectMetadata) {
			o.OwnerReferences = []metav1.OwnerReference{{Name: "x"}}
		}),
		object("v1", "ConfigMap", "prod", "copied", func(o *metav1.PartialObjectMetadata) { o.Annotations = nil }),
		object("v1", "ConfigMap", "prod", "leaving",
			func(o *metav1.PartialObjectMetadata) { o.DeletionTimestamp = &metav1.Time{} }),
		object("v1", "ConfigMap", "prod", "others",
			func(o *metav1.PartialObjectMetadata) { o.Labels["pipecd.dev/application"] = "other" }),
	)
	items, skipped, err := inventory.List(t.Context(), c, inventory.Labels("app"), nil)
	require.NoError(t, err)
	require.Empty(t, skipped)
	require.Equal(t, []string{":ConfigMap:prod:mine", ":Namespace::ns"}, keys(items))
}

func TestAKindThatMayNotBeListedIsLookedForInTheNamespaceOrLeftOut(t *testing.T) {
	t.Parallel()
	c, metadata := newClient(t, object("v1", "ConfigMap", "prod", "mine"), object("v1", "Secret", "prod", "hidden"))
	metadata.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		resource := action.GetResource()
		if resource.Resource == "secrets" || action.GetNamespace() == "" {
			return true, nil, apierrors.NewForbidden(resource.GroupResource(), "", errors.New("no"))
		}
		return false, nil, nil
	})
	items, skipped, err := inventory.List(t.Context(), c, inventory.Labels("app"), []string{"prod"})
	require.NoError(t, err)
	require.Equal(t, []string{":ConfigMap:prod:mine"}, keys(items))
	require.Equal(t, []inventory.Skipped{
		{Version: "v1", Resource: "namespaces", Kind: "Namespace", Unseen: true},
		{Version: "v1", Resource: "secrets", Kind: "Secret", Unseen: true},
	}, skipped)
}

func TestDeletionGoesFromServicesToWhatHasNoNamespaceAndGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	c, metadata := newClient(t, object("v1", "Namespace", "", "ns"), object("v1", "ConfigMap", "prod", "c"),
		object("apps/v1", "Deployment", "prod", "d"), object("v1", "Service", "prod", "s"), object("v1", "Secret",
			"prod", "gone"))
	items, _, err := inventory.List(t.Context(), c, inventory.Labels("app"), nil)
	require.NoError(t, err)
	metadata.PrependReactor("delete", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		switch action.GetResource().Resource {
		case "secrets":
			return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "gone")
		case "deployments":
			return true, nil, errors.New("no")
		}
		return false, nil, nil
	})
	l := &log{}
	deleted, err := inventory.Delete(t.Context(), c, items, l)
	require.ErrorContains(t, err, "delete Deployment prod/d: no")
	require.Equal(t, inventory.Deleted{Gone: 3}, deleted)
	require.Equal(t, `- Service prod/s: deleted
- Deployment prod/d: cannot be deleted: no
- ConfigMap prod/c: deleted
- Secret prod/gone: was already gone
- Namespace ns: deleted
`, l.text.String())
}

// crossed has the API refuse a deletion of another state than the given one of a ConfigMap, and show it as it is now.
func crossed(metadata *fakemetadata.FakeMetadataClient, now *metav1.PartialObjectMetadata) {
	var deleted atomic.Bool
	metadata.PrependReactor("delete", "configmaps", func(a clienttesting.Action) (bool, runtime.Object, error) {
		asked := a.(clienttesting.DeleteAction).GetDeleteOptions().Preconditions
		if *asked.UID == now.UID && *asked.ResourceVersion == now.ResourceVersion {
			deleted.Store(true)
			return false, nil, nil
		}
		return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, now.Name,
			errors.New("precondition"))
	})
	metadata.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return !deleted.Load(), now, nil
	})
}

func TestWhatSomeoneHasWrittenSinceItWasSeenIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	version := func(v string) func(*metav1.PartialObjectMetadata) {
		return func(o *metav1.PartialObjectMetadata) { o.ResourceVersion = v }
	}
	for name, c := range map[string]struct {
		change func(*metav1.PartialObjectMetadata)
		says   string
		ends   int
	}{
		"another application has taken it": {func(o *metav1.PartialObjectMetadata) {
			o.Labels[manifest.LabelApplication] = "other"
		}, "- ConfigMap prod/c: kept, another application has taken it over meanwhile\n", 0},
		"a user excludes it": {func(o *metav1.PartialObjectMetadata) {
			o.Annotations["helm.sh/resource-policy"] = "keep"
		}, "- ConfigMap prod/c: kept, ", 0},
		"it is another object": {func(o *metav1.PartialObjectMetadata) { o.UID = "new" },
			"- ConfigMap prod/c: was already gone\n", 0},
		"a controller has written to it": {func(*metav1.PartialObjectMetadata) {}, "- ConfigMap prod/c: deleted\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, metadata := newClient(t, object("v1", "ConfigMap", "prod", "c", version("1")))
			items, _, err := inventory.List(t.Context(), client, inventory.Labels("app"), nil)
			require.NoError(t, err)
			now := object("v1", "ConfigMap", "prod", "c", version("2"), c.change)
			crossed(metadata, now.(*metav1.PartialObjectMetadata))
			l := &log{}
			deleted, err := inventory.Delete(t.Context(), client, items, l)
			require.NoError(t, err)
			require.Equal(t, c.ends, deleted.Gone)
			require.Contains(t, l.text.String(), c.says)
			remaining, _, err := inventory.List(t.Context(), client, inventory.Labels("app"), nil)
			require.NoError(t, err)
			require.Len(t, remaining, 1-c.ends)
		})
	}
}

func TestWhatIsWantedIsLeftOut(t *testing.T) {
	t.Parallel()
	items := []inventory.Item{{Key: manifest.Key{Kind: "ConfigMap", Namespace: "default", Name: "a"}},
		{Key: manifest.Key{Kind: "ConfigMap", Namespace: "prod", Name: "b"}}}
	require.Equal(t, []string{":ConfigMap:prod:b"},
		keys(inventory.Except(items, []manifest.Key{{Kind: "ConfigMap", Name: "a"}})))
}

func TestACopyOfAManagedObjectIsNotTouched(t *testing.T) {
	t.Parallel()
	marked := func(key string) func(*metav1.PartialObjectMetadata) {
		return func(o *metav1.PartialObjectMetadata) {
			o.Annotations["pipecd.dev/resource-key"] = key
			o.Annotations["pipecd.dev/application"] = "app"
		}
	}
	c, _ := newClient(t,
		object("v1", "ConfigMap", "prod", "mine", marked(":ConfigMap::mine")),
		object("v1", "ConfigMap", "other", "mine", marked(":ConfigMap:prod:mine")),
		object("v1", "ConfigMap", "prod", "by-hand", marked(":ConfigMap:prod:mine")),
		object("v1", "Secret", "prod", "mine", marked(":ConfigMap:prod:mine")),
		object("v1", "Namespace", "", "system:ns", marked(":Namespace:prod:system:ns")),
		object("v1", "Secret", "prod", "relabelled", marked(":Secret:prod:relabelled"),
			func(o *metav1.PartialObjectMetadata) {
				o.Annotations["pipecd.dev/application"] = "other"
			}),
	)
	items, _, err := inventory.List(t.Context(), c, inventory.Labels("app"), nil)
	require.NoError(t, err)
	require.Equal(t, []string{":ConfigMap:prod:mine", ":Namespace::system:ns"}, keys(items))
}

func TestAnObjectUnderAnotherKindIsTheSame(t *testing.T) {
	t.Parallel()
	items := []inventory.Item{
		{Key: manifest.Key{Kind: "Namespace", Name: "a"}, Meta: metav1.ObjectMeta{UID: "1"}},
		{Key: manifest.Key{Group: "project.openshift.io", Kind: "Project", Name: "a"},
			Meta: metav1.ObjectMeta{UID: "1"}},
		{Key: manifest.Key{Kind: "Namespace", Name: "b"}, Meta: metav1.ObjectMeta{UID: "2"}},
	}
	require.Equal(t, []string{":Namespace::b"}, keys(inventory.ExceptSame(items, []types.UID{"1"})))
}

func TestANamespaceIsKeptWithTheNamesOfWhatItHolds(t *testing.T) {
	t.Parallel()
	unmanaged := func(o *metav1.PartialObjectMetadata) { o.Labels, o.Annotations = nil, nil }
	annotated := func(o *metav1.PartialObjectMetadata) { o.Annotations["helm.sh/resource-policy"] = "keep" }
	var objects []runtime.Object
	for _, name := range []string{"empty", "held", "kept", "provided", "owned"} {
		objects = append(objects, object("v1", "Namespace", "", name))
	}
	for i := range 5 {
		objects = append(objects, object("v1", "Secret", "held", fmt.Sprintf("theirs-%d", i), unmanaged))
	}
	objects = append(objects, object("v1", "ConfigMap", "held", "mine"),
		object("v1", "ConfigMap", "kept", "annotated", annotated),
		object("v1", "ConfigMap", "provided", "kube-root-ca.crt", unmanaged),
		object("v1", "Service", "owned", "mine"),
		object("v1", "Secret", "owned", "of-mine", unmanaged, func(o *metav1.PartialObjectMetadata) {
			o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: "mine",
				UID: "Servicemine"}}
		}))
	c, _ := newClient(t, objects...)
	items, _, err := inventory.List(t.Context(), c, inventory.Labels("app"), nil)
	require.NoError(t, err)
	deletable, kept, err := inventory.Deletable(t.Context(), c, items)
	require.NoError(t, err)
	require.Equal(t, []string{":ConfigMap:held:mine", ":Namespace::empty", ":Namespace::owned", ":Namespace::provided",
		":Service:owned:mine"}, keys(deletable))
	reasons := map[string]string{}
	for _, k := range kept {
		reasons[k.Key.Human()] = k.Reason
	}
	require.Equal(t, map[string]string{
		"ConfigMap kept/annotated": "because of its annotation helm.sh/resource-policy: keep",
		"Namespace held": "because it holds 5 objects that are not deleted with it: Secret " +
			"held/theirs-0, Secret held/theirs-1, Secret held/theirs-2 and 2 more",
		"Namespace kept": "because it holds 1 object that is not deleted with it: ConfigMap kept/annotated",
	}, reasons)
}

func TestANamespaceThatCannotBeListedIsKept(t *testing.T) {
	t.Parallel()
	c, metadata := newClient(t, object("v1", "Namespace", "", "mine"))
	items, _, err := inventory.List(t.Context(), c, inventory.Labels("app"), nil)
	require.NoError(t, err)
	metadata.PrependReactor("list", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", errors.New("no"))
	})
	deletable, kept, err := inventory.Deletable(t.Context(), c, items)
	require.NoError(t, err)
	require.Empty(t, deletable)
	require.Equal(t, "because it may hold objects of kinds that cannot be listed: secrets", kept[0].Reason)
}
