# Nothing here reaches the network: terraform_data is part of OpenTofu and Terraform.

variable "greeting" {
  type = string
}

# A change of the name replaces this resource, so that the deployment asks before it destroys.
resource "terraform_data" "page" {
  triggers_replace = ["index"]
  input            = "${var.greeting}, world"
}

# A change of the count creates and destroys these.
resource "terraform_data" "replica" {
  count = 2
  input = "replica ${count.index} of ${terraform_data.page.output}"
}

output "page" {
  value = terraform_data.page.output
}
