// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/services"
)

// variants creates a Service and Deployments of its variants, five pods each, which greet with the variant's name.
func variants(t *testing.T, client kubernetes.Interface, name string, variants ...string) {
	t.Helper()
	for _, variant := range variants {
		d := deployment(name+"-"+variant, serving(variant))
		d.Spec.Replicas = new(int32(5))
		labels := map[string]string{"app": name, "variant": variant}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		create(t, client, d)
	}
	service(t, client, name, map[string]string{"app": name})
	for _, variant := range variants {
		awaitReplicas(t, client, name+"-"+variant, 5)
	}
}

func awaitReplicas(t *testing.T, client kubernetes.Interface, name string, replicas int32) {
	t.Helper()
	eventually(t, "the Deployment has its replicas", func() bool {
		d, err := client.AppsV1().Deployments("default").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == replicas &&
			d.Status.Replicas == replicas
	})
}

func service(t *testing.T, client kubernetes.Interface, name string, selector map[string]string) {
	t.Helper()
	_, err := client.CoreV1().Services("default").Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{
			{Name: "http", Port: 80, TargetPort: intstr.FromString("http")},
		}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// addressesOf waits for the addresses that are written on a Service.
func addressOf(t *testing.T, client kubernetes.Interface, name string) (address string) {
	t.Helper()
	eventually(t, "the Service has an address", func() bool {
		s, err := client.CoreV1().Services("default").Get(t.Context(), name, metav1.GetOptions{})
		var addresses map[string]string
		if err == nil && s.Annotations[services.AddressesAnnotation] != "" {
			require.NoError(t, json.Unmarshal([]byte(s.Annotations[services.AddressesAnnotation]), &addresses))
			address = addresses["80"]
		}
		return address != ""
	})
	return address
}

// fetch asks on a new connection, as curl does.
func fetch(url, host string) (string, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	request.Host = host
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, text)
	}
	return strings.TrimSpace(string(text)), err
}

// share asks n times and counts the answers.
func share(t *testing.T, n int, url, host string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for range n {
		text, err := fetch(url, host)
		require.NoError(t, err)
		counts[text]++
	}
	return counts
}

// awaitShare asks until all answers are of these variants and none other.
func awaitAnswers(t *testing.T, url, host string, variants ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s answers with %v", url, variants), func() bool {
		seen := map[string]bool{}
		for range 20 {
			text, err := fetch(url, host)
			if err != nil {
				return false
			}
			seen[text] = true
		}
		for _, variant := range variants {
			if !seen[variant] {
				return false
			}
		}
		return len(seen) == len(variants)
	})
}

func TestServicesAnswerOnThisMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := listPrograms(t, dir)
	server := startReady(t, dir, "--programs", list)
	client := server.client(t)
	t.Run("the share of two versions is that of their pods", func(t *testing.T) {
		variants(t, client, "shared", "one", "two")
		address := addressOf(t, client, "shared")
		eventually(t, "all pods are behind the Service", func() bool {
			return share(t, 100, "http://"+address, "")["one"] == 50
		})
		counts := share(t, 1000, "http://"+address, "")
		require.InDelta(t, 500, counts["one"], 60, counts)
		require.Equal(t, 1000, counts["one"]+counts["two"])
	})
	t.Run("no request is lost, or answered wrongly, when the selector and the pods change", func(t *testing.T) {
		testBlueGreen(t, client)
	})
	t.Run("an address outlives a kill", func(t *testing.T) {
		before := addressOf(t, client, "shared")
		server.kill()
		server = startReady(t, dir, "--programs", list)
		client = server.client(t)
		awaitAnswers(t, "http://"+before, "", "one", "two")
		require.Equal(t, before, addressOf(t, client, "shared"))
	})
}

// testBlueGreen moves a Service from one version to another, replaces the pods of that one and removes the first.
func testBlueGreen(t *testing.T, client kubernetes.Interface) {
	ctx := t.Context()
	variants(t, client, "moved", "blue", "green")
	selector := func(variant string) {
		_, err := client.CoreV1().Services("default").Patch(ctx, "moved", types.MergePatchType,
			fmt.Appendf(nil, `{"spec":{"selector":{"variant":%q}}}`, variant), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	selector("blue")
	url := "http://" + addressOf(t, client, "moved")
	awaitAnswers(t, url, "", "blue")

	stop, stopped := make(chan struct{}), make(chan error, 1)
	asked := 0
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			text, err := fetch(url, "")
			if err == nil && text != "blue" && text != "green" && text != "green 2" {
				err = errors.New("a wrong answer: " + text)
			}
			if err != nil {
				stopped <- err
				return
			}
			asked++
		}
	}()
	selector("green")
	awaitAnswers(t, url, "", "green")
	require.NoError(t, client.AppsV1().Deployments("default").Delete(ctx, "moved-blue", metav1.DeleteOptions{}))
	changed := serving("green 2").Spec
	patch, err := json.Marshal(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{
		Template: corev1.PodTemplateSpec{Spec: changed},
	}})
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(patch, &fields))
	spec := fields["spec"].(map[string]any)
	delete(spec, "selector")
	delete(spec, "strategy")
	patch, err = json.Marshal(map[string]any{"spec": spec})
	require.NoError(t, err)
	_, err = client.AppsV1().Deployments("default").Patch(ctx, "moved-green", types.StrategicMergePatchType, patch,
		metav1.PatchOptions{})
	require.NoError(t, err)
	awaitReplicas(t, client, "moved-green", 5)
	awaitAnswers(t, url, "", "green 2")
	close(stop)
	require.NoError(t, <-stopped)
	require.Greater(t, asked, 100)
}

// objects create what has no Go type here.
func (p *process) objects(t *testing.T) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	require.NoError(t, err)
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	return client
}

func TestRoutesShareRequestsByWeight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := startReady(t, dir, "--programs", listPrograms(t, dir))
	client, objects := server.client(t), server.objects(t)
	variants(t, client, "web", "stable", "canary")
	service(t, client, "web-stable", map[string]string{"app": "web", "variant": "stable"})
	service(t, client, "web-canary", map[string]string{"app": "web", "variant": "canary"})
	apply := func(text string) *unstructured.Unstructured {
		t.Helper()
		return applyRoute(t, objects, text)
	}
	t.Run("an Ingress", func(t *testing.T) {
		ingress := apply(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
    - host: canary.localhost
      http:
        paths: [{path: /, pathType: Prefix, backend: {service: {name: web-canary, port: {name: http}}}}]
`)
		url := "http://" + routeAddress(t, ingress, "canary.localhost")
		awaitAnswers(t, url, "canary.localhost", "canary")
		_, err := fetch(url, "evil.example")
		require.ErrorContains(t, err, "421 Misdirected Request")
	})
	t.Run("an Ingress to a Service that is not there yet", func(t *testing.T) {
		testLateService(t, client, apply)
	})
	t.Run("an HTTPRoute of a Gateway", func(t *testing.T) {
		gateway := apply(`
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP}]}
`)
		listeners, _, err := unstructured.NestedSlice(gateway.Object, "status", "listeners")
		require.NoError(t, err)
		require.Len(t, listeners, 1)
		route := apply(httpRoute("parentRefs: [{name: edge}], hostnames: [web.localhost]", 50))
		url := "http://" + routeAddress(t, route, "web.localhost")
		awaitAnswers(t, url, "web.localhost", "stable", "canary")
		counts := share(t, 1000, url, "web.localhost")
		require.InDelta(t, 500, counts["canary"], 60, counts)
		require.Equal(t, 1000, counts["stable"]+counts["canary"])
	})
	t.Run("a VirtualService of the mesh, at the Service's own address", func(t *testing.T) {
		testMesh(t, client, apply)
	})
}

// testLateService has an Ingress to a Service that is created later.
func testLateService(t *testing.T, client kubernetes.Interface, apply func(string) *unstructured.Unstructured) {
	t.Helper()
	apply(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: late}
spec: {rules: [{host: late.localhost, http: {paths: [
  {path: /, pathType: Prefix, backend: {service: {name: web-late, port: {name: http}}}}]}}]}
`)
	problem := func() *string {
		late, err := client.NetworkingV1().Ingresses("default").Get(t.Context(), "late", metav1.GetOptions{})
		require.NoError(t, err)
		if addresses := late.Status.LoadBalancer.Ingress; len(addresses) > 0 {
			return addresses[0].Ports[0].Error
		}
		return nil
	}
	eventually(t, "its port has an error", func() bool {
		says := problem()
		return says != nil && *says == "pipedeck.dev/BackendNotFound"
	})
	requireEvent(t, client, "BackendNotFound", "path late.localhost/: there is no Service default/web-late")
	service(t, client, "web-late", map[string]string{"app": "web"})
	eventually(t, "the error is gone", func() bool { return problem() == nil })
}

// testMesh shares the requests to the address of the Service web, whose pods are of two variants.
func testMesh(t *testing.T, client kubernetes.Interface, apply func(string) *unstructured.Unstructured) {
	t.Helper()
	apply(`
apiVersion: networking.istio.io/v1beta1
kind: Gateway
metadata: {name: web}
spec:
  selector: {istio: ingressgateway}
  servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ["*"]}]
`)
	apply(`
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web}
spec:
  host: web
  subsets: [{name: primary, labels: {variant: stable}}, {name: canary, labels: {variant: canary}}]
`)
	apply(`
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web]
  http:
    - route:
        - {destination: {host: web, subset: primary}, weight: 90}
        - {destination: {host: web, subset: canary}, weight: 10}
`)
	url := "http://" + addressOf(t, client, "web")
	eventually(t, "the weights are honoured", func() bool {
		counts := share(t, 100, url, "")
		return counts["stable"] == 90 && counts["canary"] == 10
	})
}

// applyRoute applies an object and returns it once it has been looked at.
func applyRoute(t *testing.T, objects dynamic.Interface, text string) (applied *unstructured.Unstructured) {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	kind := object.GroupVersionKind()
	plural := strings.ToLower(kind.Kind) + "s"
	if kind.Kind == "Ingress" {
		plural = "ingresses"
	}
	resource := objects.Resource(kind.GroupVersion().WithResource(plural)).Namespace("default")
	eventually(t, kind.Kind+" is served", func() bool {
		var err error
		applied, err = resource.Apply(t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "test"})
		return err == nil
	})
	eventually(t, kind.Kind+" has been looked at", func() bool {
		var err error
		applied, err = resource.Get(t.Context(), object.GetName(), metav1.GetOptions{})
		_, found, _ := unstructured.NestedMap(applied.Object, "status")
		switch {
		case kind.Group == "networking.istio.io": // nothing is written on it
			found = true
		case kind.Kind == "Ingress", kind.Kind == "HTTPRoute":
			found = found && applied.GetAnnotations()[services.AddressesAnnotation] != ""
		}
		return err == nil && found
	})
	return applied
}

func httpRoute(spec string, weight int) string {
	return fmt.Sprintf(`
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {%s, rules: [{backendRefs: [
  {name: web-stable, port: 80, weight: %d}, {name: web-canary, port: 80, weight: %d}]}]}
`, spec, 100-weight, weight)
}

// routeAddress reads where a host is answered for.
func routeAddress(t *testing.T, object *unstructured.Unstructured, host string) string {
	t.Helper()
	var addresses map[string]string
	require.NoError(t, json.Unmarshal([]byte(object.GetAnnotations()[services.AddressesAnnotation]), &addresses))
	require.NotEmpty(t, addresses[host])
	return addresses[host]
}
