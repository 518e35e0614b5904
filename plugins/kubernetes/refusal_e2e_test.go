// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// stopped is a Deployment without pods, with the fields of its container.
func stopped(fields ...string) string {
	return strings.ReplaceAll(deploymentYAML("web", "app:v1", 0, ""),
		"          envFrom:\n            - configMapRef: {name: conf, optional: true}\n",
		"          "+strings.Join(fields, "\n          ")+"\n")
}

const (
	claimingYAML = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 0
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: "app:v1"}]}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 1Gi}}
`
	suspendedJobYAML = `apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
        - {name: main, image: "app:v1"}
`
	claimYAML = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests: {storage: 2Gi}
`
	bindingYAML = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reader
`
)

const replaceStep = "\nnext step: to delete and create it again, set " +
	"metadata.annotations[\"pipecd.dev/force-sync-by-replace\"]: enabled in the manifest"

func TestWhatTheAPIRefusesIsOneLineAndItsNextStep(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// before is applied, then the same with old replaced by then. Without old, before itself is refused.
		before, old, then string
		// want has NS where the namespace of the test stands.
		want string
	}{
		"the selector of a Deployment": {stopped("env: []"), "{app: web}", "{app: web2}",
			"a.yaml:8: Deployment NS/web: spec.selector.matchLabels.app: cannot be changed in place: \"web\" in the " +
				"cluster, \"web2\" in Git" + replaceStep},
		"the address of a Service": {serviceYAML, "spec:\n", "spec:\n  clusterIP: None\n",
			"a.yaml:5: Service NS/web: spec.clusterIP: cannot be changed in place: "},
		"the claims of a StatefulSet": {claimingYAML, "1Gi", "2Gi",
			"a.yaml:15: StatefulSet NS/db: spec.volumeClaimTemplates[0].spec.resources.requests.storage: cannot be " +
				"changed in place: \"1Gi\" in the cluster, \"2Gi\" in Git" + replaceStep},
		"the template of a Job": {suspendedJobYAML, "app:v1", "app:v2",
			"a.yaml:10: Job NS/migrate: spec.template.spec.containers[0].image: cannot be changed in place: " +
				"\"app:v1\" in the cluster, \"app:v2\" in Git" + replaceStep},
		"a claim that becomes smaller": {claimYAML, "2Gi", "1Gi",
			"a.yaml:7: PersistentVolumeClaim NS/data: spec.resources.requests.storage: cannot be changed in place: " +
				"\"2Gi\" in the cluster, \"1Gi\" in Git\nnext step: take the change back"},
		"the role of a RoleBinding": {bindingYAML, "reader", "writer",
			"a.yaml:7: RoleBinding NS/rb: roleRef.name: cannot be changed in place: \"reader\" in the cluster, " +
				"\"writer\" in Git" + replaceStep},
		"a variable twice": {stopped("env:", "  - {name: A, value: b}", "  - {name: A, value: c}"), "", "",
			"a.yaml:19: Deployment NS/web: spec.template.spec.containers[name=\"main\"].env: two items have name " +
				"\"A\", the first at a.yaml:18\nnext step: remove or rename one of them"},
		"a port twice": {stopped("ports:", "  - {containerPort: 80}", "  - {containerPort: 80}"), "", "",
			"a.yaml:19: Deployment NS/web: spec.template.spec.containers[name=\"main\"].ports: two items have " +
				"containerPort 80 and protocol \"TCP\", the first at a.yaml:18"},
		"the name of a port twice": {strings.ReplaceAll(serviceYAML, "[{port: 80, targetPort: 8080}]",
			"\n    - {name: a, port: 80}\n    - {name: a, port: 81}"), "", "",
			"a.yaml:8: Service NS/web: spec.ports[1].name: Duplicate value: \"a\"\n"},
		"base64": {"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  a: YQ==\n  b: s3cret!\n", "", "",
			"a.yaml:6: Secret NS/s: data.b: the value is not valid base64\nnext step: encode the value with base64, " +
				"or write it as it is below stringData"},
		"a number where text is expected": {stopped("env:", "  - {name: A, value: 5}"), "", "",
			"a.yaml:18: Deployment NS/web: spec.template.spec.containers[name=\"main\"].env[name=\"A\"].value: " +
				"expected a string, got 5\nnext step: put the value in quotes"},
		"a map where a list is expected": {stopped("env: {A: b}"), "", "",
			"a.yaml:17: Deployment NS/web: spec.template.spec.containers[name=\"main\"].env: expected a list, got a " +
				"map\n"},
		"a quantity": {stopped("resources: {limits: {memory: lots}}"), "", "",
			"a.yaml:17: Deployment NS/web: spec.template.spec.containers[0].resources.limits.memory: \"lots\" is not " +
				"a quantity\nnext step: write a number with a unit, such as 500m, 128Mi or 2Gi"},
		"a fraction": {strings.ReplaceAll(stopped("env: []"), "replicas: 0", "replicas: 1.5"), "", "",
			"a.yaml:6: Deployment NS/web: spec.replicas: 1.5 is not a whole number\nnext step: write a whole number"},
		"a misspelt field": {stopped("imagePullPolici: Always"), "", "",
			"a.yaml:17: Deployment NS/web: spec.template.spec.containers[name=\"main\"].imagePullPolici: no such " +
				"field in apps/v1 Deployment\nnext step: did you mean imagePullPolicy?"},
		"two misspelt fields": {stopped("imagePullPolici: Always", "resources: {limts: {cpu: 1}}"), "", "",
			"a.yaml:17: Deployment NS/web: spec.template.spec.containers[name=\"main\"].imagePullPolici: no such " +
				"field in apps/v1 Deployment; spec.template.spec.containers[name=\"main\"].resources.limts: no such " +
				"field in apps/v1 Deployment\nnext step: did you mean imagePullPolicy?"},
		"a mount without a volume": {stopped("volumeMounts: [{name: gone, mountPath: /x}]"), "", "",
			"Not found: \"gone\"\nnext step: add a volume with this name to spec.template.spec.volumes"},
		"a label": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {a: b c}}\n", "", "",
			"\nnext step: use letters, digits, '-', '_' and '.', with a letter or a digit at both ends"},
		"a misspelt field, replaced": {strings.ReplaceAll(stopped("imagePullPolici: Always"), "  name: web\n",
			"  name: web\n  annotations: {pipecd.dev/sync-by-replace: enabled}\n"), "", "",
			"a.yaml:18: Deployment NS/web: spec.template.spec.containers[name=\"main\"].imagePullPolici: no such " +
				"field in apps/v1 Deployment\nnext step: did you mean imagePullPolicy?"},
		"a field at the wrong place": {strings.ReplaceAll(stopped("replicas: 3"), "  replicas: 0\n", ""), "", "",
			"a.yaml:16: Deployment NS/web: spec.template.spec.containers[name=\"main\"].replicas: no such field in " +
				"apps/v1 Deployment\nnext step: the field belongs next to template: look at its indentation"},
		"a request that is too large": {configMap("c", "a: "+strings.Repeat("x", 4<<20)), "", "",
			"a.yaml:1: ConfigMap NS/c: it is larger than the API takes: Request entity too large: limit is 3145728\n" +
				"next step: split it into several objects"},
		"an object that is too large": {configMap("c", "a: "+strings.Repeat("x", 1<<20+1)), "", "",
			"a.yaml:1: ConfigMap NS/c: Too long: may not be more than 1048576 bytes\nnext step: split it into " +
				"several objects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			text := tt.before
			if tt.old != "" {
				a.succeeds("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"a.yaml": text}}, nil)
				text = strings.ReplaceAll(text, tt.old, tt.then)
			}
			log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa2", Files: map[string]string{"a.yaml": text}}, nil)
			require.Contains(t, log+"\n", strings.ReplaceAll(tt.want, "NS", a.namespace))
			require.NotContains(t, log, "&", "no values of the server's own types")
		})
	}
}

func TestSeveralRefusedObjectsAreALineEachAndTheReasonCountsThem(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	reason := reasonOf(a, &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"a.yaml": configMap("a", "a: 1"), "b.yaml": configMap("b", "b: 2"), "c.yaml": configMap("c", "c: 3"),
	}})
	require.Equal(t, "a.yaml:4: ConfigMap "+a.namespace+"/a: data.a: expected a string, got 1 (and 2 more in the "+
		"log); "+
		"next step: put the value in quotes", reason)
	for _, name := range []string{"b", "c"} {
		require.Contains(t, a.h.Piped.Log("stage-1"), "\n"+name+".yaml:4: ConfigMap "+a.namespace+"/"+name+": "+
			"data."+name)
	}
}

// reasonOf fails to sync a commit and returns the reason of the stage.
func reasonOf(a *app, c *commit) string {
	a.t.Helper()
	a.stages++
	req := a.h.Request("K8S_SYNC", "")
	req.Input.Deployment.ApplicationId, req.Input.Stage.Id = a.id, "stage-1"
	req.Input.TargetDeploymentSource = a.source(c)
	resp, err := a.h.Deployment.ExecuteStage(a.t.Context(), req)
	require.NoError(a.t, err)
	return resp.GetMessage()
}

// denyServices has a policy deny every Service of the test's namespace from now on.
func denyServices(a *app) {
	a.t.Helper()
	group := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	for resource, spec := range map[string]string{
		"validatingadmissionpolicies": `"matchConstraints": {"resourceRules": [{"apiGroups": [""],
			"apiVersions": ["v1"],
			"operations": ["CREATE", "UPDATE"], "resources": ["services"]}]},
			"validations": [{"expression": "false", "message": "every Service needs an owner"}]`,
		"validatingadmissionpolicybindings": `"policyName": "` + a.namespace + `", "validationActions": ["Deny"],
			"matchResources": {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "` + a.namespace +
			`"}}}`,
	} {
		createClusterWide(a, group.WithResource(resource), spec)
	}
	trial := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "trial"},
		"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}},
	}}
	a.waitUntil("the policy denies", func() bool {
		_, err := a.live().Dynamic.Resource(services).Namespace(a.namespace).Create(a.t.Context(), trial,
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err)
	})
}

func TestAPolicyThatDeniesIsNamedWithItsWords(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.makeNamespace()
	denyServices(a)
	log := a.fails("K8S_SYNC", "", &commit{Hash: "aaaaaaa1", Files: map[string]string{"service.yaml": serviceYAML}},
		nil)
	require.Contains(t, log, "service.yaml:1: Service "+a.namespace+"/web: the ValidatingAdmissionPolicy "+a.namespace+
		" denied it: every Service needs an owner\nnext step: change the manifest as the policy says")
}

// createClusterWide makes an object with the name of the test's namespace, and deletes it when the test ends.
func createClusterWide(a *app, gvr schema.GroupVersionResource, spec string) {
	a.t.Helper()
	kind := map[string]string{"validatingadmissionpolicies": "ValidatingAdmissionPolicy",
		"validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding"}[gvr.Resource]
	o := &unstructured.Unstructured{}
	require.NoError(a.t, o.UnmarshalJSON([]byte(`{"apiVersion": "`+gvr.GroupVersion().String()+`", "kind": "`+kind+
		`", "metadata": {"name": "`+a.namespace+`"}, "spec": {`+spec+`}}`)))
	r := a.live().Dynamic.Resource(gvr)
	_, err := r.Create(a.t.Context(), o, metav1.CreateOptions{})
	require.NoError(a.t, err)
	a.t.Cleanup(func() { _ = r.Delete(context.Background(), a.namespace, metav1.DeleteOptions{}) })
}
