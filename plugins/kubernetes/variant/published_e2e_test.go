// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package variant_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/clustertest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// publishers are the Go modules in which providers publish the definitions of their routes, with their checksums: they
// are downloaded for this test alone.
var publishers = []struct{ module, version, sum, file string }{
	{"sigs.k8s.io/gateway-api", "v1.4.1", "h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=",
		"config/crd/experimental/gateway.networking.k8s.io_httproutes.yaml"},
	{"istio.io/api", "v1.32.0", "h1:37mJvg9I0biYZAEQF+MATs4FNeCpXEIVO3LFpVb6iNM=",
		"kubernetes/customresourcedefinitions.gen.yaml"},
	{"github.com/traefik/traefik/v3", "v3.7.13", "h1:T8wy9KuaFzCkmXCqAzDy7t73pBDR1DHrJe3pqXpNXTw=",
		"docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml"},
}

// publishedGroup replaces the groups of the published definitions: those of the embedded Kubernetes have less to them,
// and serve the other tests.
const publishedGroup = ".published.test"

var definitions = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// The API server itself checks each golden file against the definition of its provider, with its rules, and strictly:
// it would drop a field that is not there.
func TestEachProvidersOwnDefinitionTakesWhatIsWritten(t *testing.T) {
	t.Parallel()
	config, err := clientcmd.BuildConfigFromFlags("", clustertest.Kubeconfig(t))
	require.NoError(t, err)
	config.QPS = -1 // it is our own server
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	wanted := []string{"HTTPRoute", "VirtualService", "IngressRoute", "TraefikService"}
	resources := map[string]schema.GroupVersionResource{} // by API version and kind
	for _, publisher := range publishers {
		published := definitionsOf(t, publisher.module, publisher.version, publisher.sum, publisher.file)
		for _, definition := range published {
			kind, _, err := unstructured.NestedString(definition.Object, "spec", "names", "kind")
			require.NoError(t, err)
			if slices.Contains(wanted, kind) {
				install(t, client, definition, kind, resources)
			}
		}
	}

	files, err := filepath.Glob("testdata/*-*.golden.yaml")
	require.NoError(t, err)
	checked := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		written, err := manifest.Parse(text, file)
		require.NoError(t, err)
		for _, m := range written {
			resource, known := resources[m.GetAPIVersion()+" "+m.GetKind()]
			if !known {
				require.NotContains(t, wanted, m.GetKind(), "%s: no provider publishes %s", file, m.GetAPIVersion())
				continue
			}
			object := m.Unstructured.DeepCopy()
			object.SetAPIVersion(resource.GroupVersion().String())
			require.NoError(t, create(t, client, resource, object), file)
			checked[m.GetKind()]++

			require.NoError(t, unstructured.SetNestedField(object.Object, "x", "spec", "mirrrors"))
			require.ErrorContains(t, create(t, client, resource, object), "mirrrors")
		}
	}
	for _, kind := range wanted {
		require.Positive(t, checked[kind], kind)
	}
}

// definitionsOf downloads a module and reads its definitions.
func definitionsOf(t *testing.T, module, version, sum, file string) []*unstructured.Unstructured {
	t.Helper()
	download := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module+"@"+version)
	download.Dir, download.Env = t.TempDir(), append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var failed bytes.Buffer
	download.Stderr = &failed
	out, err := download.Output()
	require.NoError(t, err, "%s%s", out, failed.String())
	var downloaded struct{ Dir, Sum string }
	require.NoError(t, json.Unmarshal(out, &downloaded))
	require.Equal(t, sum, downloaded.Sum)
	text, err := os.ReadFile(filepath.Join(downloaded.Dir, file))
	require.NoError(t, err)
	parsed, err := manifest.Parse(text, file)
	require.NoError(t, err)
	var all []*unstructured.Unstructured
	for _, m := range parsed {
		all = append(all, m.Unstructured)
	}
	return all
}

// install installs a definition in a group of this test, until its end, and notes the resource for each version.
func install(
	t *testing.T, client dynamic.Interface, definition *unstructured.Unstructured, kind string,
	resources map[string]schema.GroupVersionResource,
) {
	t.Helper()
	group, _, err := unstructured.NestedString(definition.Object, "spec", "group")
	require.NoError(t, err)
	plural, _, err := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	require.NoError(t, err)
	renamed := strings.ReplaceAll(group, ".", "-") + publishedGroup
	crd := definition.DeepCopy()
	crd.SetName(plural + "." + renamed)
	crd.SetAnnotations(nil)
	require.NoError(t, unstructured.SetNestedField(crd.Object, renamed, "spec", "group"))
	unstructured.RemoveNestedField(crd.Object, "spec", "names", "shortNames")
	unstructured.RemoveNestedField(crd.Object, "spec", "names", "categories")
	unstructured.RemoveNestedField(crd.Object, "status")
	_, err = client.Resource(definitions).Create(t.Context(), crd, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Resource(definitions).Delete(
			context.WithoutCancel(t.Context()), crd.GetName(), metav1.DeleteOptions{}))
	})
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	require.NoError(t, err)
	for _, version := range versions {
		name := version.(map[string]any)["name"].(string)
		resources[group+"/"+name+" "+kind] = schema.GroupVersionResource{
			Group: renamed, Version: name, Resource: plural,
		}
	}
}

// create tries whether the API server takes an object. It waits until the server serves the resource.
func create(
	t *testing.T, client dynamic.Interface, resource schema.GroupVersionResource, object *unstructured.Unstructured,
) (err error) {
	t.Helper()
	require.Eventually(t, func() bool {
		options := metav1.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
		}
		_, err = client.Resource(resource).Namespace("default").Create(t.Context(), inDefault(object), options)
		return !apierrors.IsNotFound(err)
	}, time.Minute, 50*time.Millisecond)
	return err
}

func inDefault(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetNamespace("default")
	return object
}
