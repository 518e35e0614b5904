// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

func TestASyncOfWhatIsThereWritesNothing(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	const many = 200
	files := map[string]string{"web.yaml": deploymentYAML("web", "app:v1", 1, ""), "service.yaml": serviceYAML}
	for i := range many {
		name := fmt.Sprintf("c%d", i)
		files[name+".yaml"] = configMap(name, "a: b")
	}
	c := &commit{Hash: "aaaaaaa1", Files: files}
	a.succeeds("K8S_SYNC", "", c, nil)
	before := a.versions(configMaps, deployments, services)
	log := a.succeeds("K8S_SYNC", `{"prune": true}`, c, c)
	require.Contains(t, log, "202 unchanged")
	require.Equal(t, before, a.versions(configMaps, deployments, services))
	require.Len(t, before, many+3, "kube-root-ca.crt is the one more")
}

// versions returns the resource versions of all objects, but for what controllers write: they say whether anything was
// written.
func (a *app) versions(resources ...schema.GroupVersionResource) map[string]string {
	a.t.Helper()
	versions := map[string]string{}
	for _, gvr := range resources {
		list, err := a.live().Dynamic.Resource(gvr).Namespace(a.namespace).List(a.t.Context(), metav1.ListOptions{})
		require.NoError(a.t, err)
		for _, o := range list.Items {
			version := o.GetResourceVersion()
			if gvr == deployments { // its controller may still write the status
				version = fmt.Sprint(o.GetGeneration())
			}
			versions[gvr.Resource+"/"+o.GetName()] = version
		}
	}
	return versions
}

func TestADefinitionAndItsResourceChangeTogether(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	group := fmt.Sprintf("c%d.example.com", time.Now().UnixNano())
	at := func(fields, spec string) *commit {
		return &commit{Hash: "aaaaaaa1", Files: map[string]string{
			"a.yaml": "apiVersion: " + group + "/v1\nkind: Thing\nmetadata: {name: one}\nspec: {" + spec + "}\n",
			"b.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.` + group + `}
spec:
  group: ` + group + `
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,
        properties: {spec: {type: object, properties: {` + fields + `}}}}}}
`}}
	}
	t.Cleanup(func() {
		_ = a.live().Dynamic.Resource(crds).Delete(context.Background(), "things."+group, metav1.DeleteOptions{})
	})
	a.succeeds("K8S_SYNC", "", at("size: {type: integer}", "size: 3"), nil)
	a.succeeds("K8S_SYNC", "", at("size: {type: integer}, color: {type: string}", "size: 3, color: red"), nil)
	log := a.fails("K8S_SYNC", "", at("size: {type: integer}, color: {type: string}", "size: 3, colour: red"), nil)
	require.Contains(t, log,
		"a.yaml:4: Thing "+a.namespace+"/one: spec.colour: no such field in "+group+"/v1 Thing\n"+
			"next step: ")
}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

func TestAMissingPermissionOnOneKindHoldsNothingElseUp(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = "autoCreateNamespace: true"
	a.makeNamespace()
	a.h = startPlugin(t,
		a.limitedUser(
			`[{"apiGroups": [""], "resources": ["configmaps", "services"], "verbs": ["get", "list", "watch", `+
				`"create", "patch"]}]`))
	secret := func(name string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData: {a: b}\n"
	}
	log := a.fails("K8S_SYNC", `{"prune": true}`, &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"c.yaml": configMap("c"), "s1.yaml": secret("s1"), "s2.yaml": secret("s2"), "service.yaml": serviceYAML,
	}}, nil)
	require.Contains(t, log, fmt.Sprintf("s1.yaml:1: Secret %[1]s/s1, Secret %[1]s/s2: the user "+
		"system:serviceaccount:%[1]s:limited of the kubeconfig may not patch secrets in the namespace %[1]s\nnext "+
		"step: give it a Role with the verbs", a.namespace))
	a.get(configMaps, "c")
	a.get(services, "web")
}

// limitedUser returns a kubeconfig of a service account that may do only what the rules (JSON) allow in the namespace.
func (a *app) limitedUser(rules string) string {
	a.t.Helper()
	for _, o := range []struct {
		gvr  schema.GroupVersionResource
		text string
	}{
		{schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"},
			`{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "limited"}}`},
		{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
			`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "limited"}, ` +
				`"rules": ` + rules + `}`},
		{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"},
			`{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "limited"},
			"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "limited"}, ` +
				`"subjects": [{"kind": "ServiceAccount", "name": "limited", "namespace": "` + a.namespace + `"}]}`},
	} {
		a.create(o.gvr, o.text)
	}
	accounts := a.live().Dynamic.Resource(schema.GroupVersionResource{Version: "v1",
		Resource: "serviceaccounts"}).Namespace(a.namespace)
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1",
		"kind": "TokenRequest", "metadata": map[string]any{"name": "limited"}}}
	answer, err := accounts.Create(a.t.Context(), request, metav1.CreateOptions{}, "token")
	require.NoError(a.t, err)
	token, _, _ := unstructured.NestedString(answer.Object, "status", "token")
	require.NotEmpty(a.t, token)

	cfg, err := clientcmd.LoadFromFile(os.Getenv(kubeconfigEnv))
	require.NoError(a.t, err)
	current := cfg.Contexts[cfg.CurrentContext]
	cfg.AuthInfos = map[string]*clientcmdapi.AuthInfo{current.AuthInfo: {Token: token}}
	path := filepath.Join(a.t.TempDir(), "kubeconfig")
	require.NoError(a.t, clientcmd.WriteToFile(*cfg, path))
	a.waitUntil("the role is known", func() bool {
		review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authorization.k8s.io/v1",
			"kind": "SubjectAccessReview", "spec": map[string]any{
				"user": "system:serviceaccount:" + a.namespace + ":limited",
				"resourceAttributes": map[string]any{"namespace": a.namespace, "verb": "patch",
					"resource": "configmaps"},
			}}}
		answer, err := a.live().Dynamic.Resource(schema.GroupVersionResource{Group: "authorization.k8s.io",
			Version: "v1", Resource: "subjectaccessreviews"}).
			Create(a.t.Context(), review, metav1.CreateOptions{})
		require.NoError(a.t, err)
		allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
		return allowed
	})
	return path
}

func (a *app) makeNamespace() {
	a.t.Helper()
	_, err := a.live().Dynamic.Resource(namespaces).Create(a.t.Context(),
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": a.namespace},
		}}, metav1.CreateOptions{})
	require.NoError(a.t, err)
}

// create makes an object of JSON in the namespace, or in none when its kind has none.
func (a *app) create(gvr schema.GroupVersionResource, text string) *unstructured.Unstructured {
	a.t.Helper()
	o := &unstructured.Unstructured{}
	require.NoError(a.t, json.Unmarshal([]byte(text), o))
	r := a.live().Dynamic.Resource(gvr)
	create := r.Namespace(a.namespace).Create
	if gvr == crds {
		create = r.Create
	}
	live, err := create(a.t.Context(), o, metav1.CreateOptions{FieldManager: "test"})
	require.NoError(a.t, err)
	return live
}

func (a *app) waitUntil(what string, ok func() bool) {
	a.t.Helper()
	require.Eventually(a.t, ok, time.Minute, 20*time.Millisecond, what)
}

// says waits until the log of the last stage has the text.
func (a *app) says(stage, text string) {
	a.t.Helper()
	a.waitUntil("the log says: "+text, func() bool { return strings.Contains(a.h.Piped.Log(stage), text) })
}

// begin is run in the background.
func (a *app) begin(stage, options string, target, running *commit) <-chan model.StageStatus {
	ended := make(chan model.StageStatus, 1)
	go func() {
		status, _ := a.run(stage, options, target, running)
		ended <- status
	}()
	return ended
}

func TestANamespaceThatIsBeingDeletedIsAwaitedAndCreatedAgain(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	first := a.leave()
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("c")}}
	ended := a.begin("K8S_SYNC", "", c, nil)
	a.says("stage-1", "waiting until it is gone, to create it again")
	a.release()
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended, a.h.Piped.Log("stage-1"))
	a.get(configMaps, "c")
	now, err := a.live().Dynamic.Resource(namespaces).Get(t.Context(), a.namespace, metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEqual(t, first, now.GetUID())
}

func TestANamespaceThatIsBeingDeletedIsAnErrorWhereItIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings = "autoCreateNamespace: false"
	a.makeNamespace()
	a.leave()
	defer a.release()
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("c")}}, nil)
	require.Contains(t, log, "the namespace "+a.namespace+" is being deleted since")
	require.Contains(t, log, "input.autoCreateNamespace: true")
}

// leave deletes the namespace while a finalizer holds something in it.
func (a *app) leave() types.UID {
	a.t.Helper()
	a.create(configMaps,
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["example.com/held"]}}`)
	r := a.live().Dynamic.Resource(namespaces)
	require.NoError(a.t, r.Delete(a.t.Context(), a.namespace, metav1.DeleteOptions{}))
	ns, err := r.Get(a.t.Context(), a.namespace, metav1.GetOptions{})
	require.NoError(a.t, err)
	require.NotNil(a.t, ns.GetDeletionTimestamp())
	return ns.GetUID()
}

func (a *app) release() {
	_, err := a.live().Dynamic.Resource(configMaps).Namespace(a.namespace).Patch(context.Background(), "held",
		types.MergePatchType,
		[]byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
	require.NoError(a.t, err)
}

func TestAnObjectThatIsBeingDeletedIsCreatedAgainWhenItIsGone(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	first := a.create(configMaps,
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "held", "finalizers": ["example.com/held"]}}`)
	require.NoError(t, a.live().Dynamic.Resource(configMaps).Namespace(a.namespace).Delete(t.Context(), "held",
		metav1.DeleteOptions{}))
	ended := a.begin("K8S_SYNC", "", &commit{Hash: "aaaaaaa1",
		Files: map[string]string{"c.yaml": configMap("held", "a: b")}}, nil)
	a.says("stage-1", "is being deleted: waiting until it is gone, to create it again (held by finalizers "+
		"example.com/held)")
	a.release()
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended, a.h.Piped.Log("stage-1"))
	live := a.get(configMaps, "held")
	require.NotEqual(t, first.GetUID(), live.GetUID())
	require.Nil(t, live.GetDeletionTimestamp())
}

func TestGitTakesAFieldFromAnotherManagerAndSaysSoUnlessTurnedOff(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	a.create(configMaps,
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf"}, "data": {"a": "theirs", `+
			`"b": "theirs"}}`)
	polite := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: conf\n" +
		"  annotations: {pipecd.dev/server-side-apply: \"true\"}\ndata:\n  a: ours\n"
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": polite}}, nil)
	require.Contains(t, log, "c.yaml:7: ConfigMap "+a.namespace+"/conf: other managers have fields of it: data.a "+
		"(of test)\nnext step: take these fields out of Git")
	log = a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa2",
		Files: map[string]string{"c.yaml": configMap("conf", "a: ours")}}, nil)
	require.Contains(t, log, "Git wins over data.a (of test)")
	data, _, _ := unstructured.NestedStringMap(a.get(configMaps, "conf").Object, "data")
	require.Equal(t, map[string]string{"a": "ours", "b": "theirs"}, data)
}

func TestAQuotaWithoutRoomIsNamed(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	quotas := schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
	a.create(quotas,
		`{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}, `+
			`"spec": {"hard": {"count/services": "0"}}}`)
	a.waitUntil("the quota is known", func() bool {
		_, err := a.live().Dynamic.Resource(services).Namespace(a.namespace).Create(t.Context(),
			&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "trial"},
				"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
			}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsForbidden(err)
	})
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"service.yaml": serviceYAML}},
		nil)
	require.Contains(t, log, "service.yaml:1: Service "+a.namespace+"/web: the ResourceQuota small has no room: "+
		"requested count/services=1, used count/services=0, limited to count/services=0\nnext step: raise the quota")
}

func TestAWebhookThatDeniesIsNamedWithItsWords(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID,
			Result: &metav1.Status{Message: "every Service needs an owner"}}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(hook.Close)
	a.addWebhook(hook.URL, hook.Certificate())
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"service.yaml": serviceYAML}},
		nil)
	require.Contains(t, log, "service.yaml:1: Service "+a.namespace+"/web: the admission webhook "+
		"owners.example.com denied it: every Service needs an owner\nnext step: change the manifest as the webhook "+
		"says")
}

// addWebhook makes the API ask about Services in the namespace of the test.
func (a *app) addWebhook(url string, certificate *x509.Certificate) {
	a.t.Helper()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
	webhooks := a.live().Dynamic.Resource(schema.GroupVersionResource{Group: "admissionregistration.k8s.io",
		Version: "v1", Resource: "validatingwebhookconfigurations"})
	configuration := map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": a.namespace},
		"webhooks": []any{map[string]any{
			"name": "owners.example.com", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
			"failurePolicy": "Fail",
			"clientConfig":  map[string]any{"url": url, "caBundle": bundle},
			"namespaceSelector": map[string]any{
				"matchLabels": map[string]any{"kubernetes.io/metadata.name": a.namespace},
			},
			"rules": []any{map[string]any{
				"operations": []any{"CREATE", "UPDATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"},
				"resources": []any{"services"},
			}},
		}},
	}
	data, err := json.Marshal(configuration)
	require.NoError(a.t, err)
	o := &unstructured.Unstructured{}
	require.NoError(a.t, json.Unmarshal(data, o))
	_, err = webhooks.Create(a.t.Context(), o, metav1.CreateOptions{})
	require.NoError(a.t, err)
	a.t.Cleanup(func() { _ = webhooks.Delete(context.Background(), a.namespace, metav1.DeleteOptions{}) })
	a.waitUntil("the webhook denies", func() bool {
		_, err := a.live().Dynamic.Resource(services).Namespace(a.namespace).Create(a.t.Context(),
			&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "trial"},
				"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
			}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "denied the request")
	})
}

func TestAnObjectTakenFromAnotherApplicationIsSaid(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("shared")}}
	a.succeeds("K8S_SYNC", "", c, nil)
	first := a.id
	a.id = "second-" + first
	log := a.succeeds("K8S_SYNC", "", c, nil)
	require.Contains(t, log, "belonged to the application "+first+" until now")
	require.Equal(t, a.id, a.get(configMaps, "shared").GetLabels()[manifest.LabelApplication])
}

func TestAfterAnErrorNothingThatComesLaterIsBegun(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	log := a.fails("K8S_SYNC", `{"prune": true}`, &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"bad.yaml": configMap("bad", "a: 1"), "worse.yaml": configMap("worse", "b: 2"), "good.yaml": configMap("good"),
		"service.yaml": serviceYAML,
	}}, nil)
	require.Contains(t, log, "bad.yaml:4: ConfigMap "+a.namespace+"/bad: data.a: expected a string, got 1\nnext "+
		"step: put the value "+
		"in quotes\n")
	require.Contains(t, log, "worse.yaml:4: ConfigMap "+a.namespace+"/worse: data.b: expected a string, got 2")
	require.Contains(t, log, "1 of 4 manifests were applied before the error")
	a.get(configMaps, "good")
	a.absent(services, "web")
}

func TestAKindThatHasComeSinceTheLastDeploymentIsKnown(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"c.yaml": configMap("c")}}, nil)
	group := fmt.Sprintf("l%d.example.com", time.Now().UnixNano())
	a.create(crds, `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "things.`+group+`"},
		"spec": {"group": "`+group+`", "scope": "Namespaced",
		"names": {"kind": "Thing", "plural": "things", "singular": "thing"},
		"versions": [{"name": "v1", "served": true, "storage": true,
		"schema": {"openAPIV3Schema": {"type": "object"}}}]}}`)
	t.Cleanup(func() {
		_ = a.live().Dynamic.Resource(crds).Delete(context.Background(), "things."+group, metav1.DeleteOptions{})
	})
	a.waitUntil("the kind is served", func() bool {
		a.live().Discovery.Invalidate()
		_, err := a.live().Discovery.ServerResourcesForGroupVersion(group + "/v1")
		return err == nil
	})
	files := map[string]string{}
	for i := range 10 {
		files[fmt.Sprintf("%d.yaml", i)] = fmt.Sprintf("apiVersion: %s/v1\nkind: Thing\nmetadata: {name: thing-%d}\n",
			group, i)
	}
	log := a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa2", Files: files}, nil)
	require.Contains(t, log, "10 created")
}
