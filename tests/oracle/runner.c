/* Runs a job: SPIR-V on a Vulkan device, with resources from files and what became of them to files.
 *
 *     runner JOB
 *
 * check.py writes the jobs. A job is words; names of Vulkan are Vulkan's, and numbers are decimal. Resources are numbered in the
 * order in which they come, buffers, images, samplers and scenes together; FILE is what they hold at first, or "-" for zeros.
 *
 *     buffer SIZE FILE
 *     image IMAGE_TYPE FORMAT ASPECT WIDTH HEIGHT DEPTH LAYERS MIPS SAMPLES FILE   texels of layer after layer, in each mip after mip
 *     sampler MIN MAG MIP ADDRESS ADDRESS ADDRESS COMPARE|- LOD LOD BORDER ANISOTROPY
 *     scene INSTANCES, and for each: GEOMETRIES TRANSFORM(12) ID MASK, and for each of them: BUFFER TRIANGLES OPAQUE INDEX_TYPE|- BUFFER
 *     step                                begins a step; its own lines follow
 *       shader STAGE FILE ENTRY
 *       bind SET BINDING COUNT ELEMENT TYPE RESOURCE ...   COUNT is the array's; RESOURCE -1 leaves it null; then, of
 *                                         buffers OFFSET SIZE, of texel buffers OFFSET SIZE FORMAT,
 *                                         of images VIEW_TYPE FORMAT ASPECT MIP MIPS LAYER LAYERS
 *       vertices BINDING BUFFER STRIDE RATE
 *       attribute LOCATION BINDING FORMAT OFFSET
 *       target IMAGE R G B A              the next colour target and what it is cleared to; -1 is a hole
 *       depth IMAGE COMPARE WRITE CLEAR
 *       raster TOPOLOGY CULL FRONT X Y WIDTH HEIGHT NEAR FAR VIEWS   the viewport is Direct3D's: y is down in it, up in clip space
 *       dispatch X Y Z | meshes X Y Z | draw VERTICES INSTANCES FIRST FIRST INDEX_TYPE|- BUFFER      ends the step
 *     keep RESOURCE FILE                  what the buffer or image holds at the end
 *
 * The device is the first one of the driver, with all that it has enabled: out-of-bounds access is Direct3D's if it has
 * VK_EXT_robustness2. It ends with 0, or with 1 and a line that says why; with 2 if the device lacks what the job needs.
 *
 * Build: cc -O1 -o runner runner.c -lvulkan
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

enum { RESOURCES = 64, BINDINGS = 128, SETS = 8, TARGETS = 8, INPUTS = 16, STAGES = 4, STEPS = 64 };

static void fail(int code, const char *what, const char *which) {
    fprintf(stderr, "runner: %s%s%s\n", what, which ? ": " : "", which ? which : "");
    _Exit(code);
}
#define VK(call)                                                                  \
    do {                                                                          \
        VkResult result_ = (call);                                                \
        if (result_ < 0) {                                                        \
            fprintf(stderr, "runner: %s gave %d\n", #call, result_);              \
            _Exit(1);                                                             \
        }                                                                         \
    } while (0)

/* ---- The job's words ---- */

static FILE *job;
static char word[4096];

static int next_word(void) { return fscanf(job, "%4095s", word) == 1; }
static const char *text(void) {
    if (!next_word()) fail(1, "the job ends early", NULL);
    return word;
}
static long long number(void) { return strtoll(text(), NULL, 0); }
static float real(void) { return strtof(text(), NULL); }

static const struct { const char *name; int value; } names[] = {
#define N(name) {#name, name},
#define F(name) {#name, VK_FORMAT_##name},
    N(VK_IMAGE_TYPE_1D) N(VK_IMAGE_TYPE_2D) N(VK_IMAGE_TYPE_3D)
    N(VK_IMAGE_VIEW_TYPE_1D) N(VK_IMAGE_VIEW_TYPE_1D_ARRAY) N(VK_IMAGE_VIEW_TYPE_2D) N(VK_IMAGE_VIEW_TYPE_2D_ARRAY)
    N(VK_IMAGE_VIEW_TYPE_3D) N(VK_IMAGE_VIEW_TYPE_CUBE) N(VK_IMAGE_VIEW_TYPE_CUBE_ARRAY)
    N(VK_IMAGE_ASPECT_COLOR_BIT) N(VK_IMAGE_ASPECT_DEPTH_BIT)
    N(VK_FILTER_NEAREST) N(VK_FILTER_LINEAR) N(VK_SAMPLER_MIPMAP_MODE_NEAREST) N(VK_SAMPLER_MIPMAP_MODE_LINEAR)
    N(VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE) N(VK_SAMPLER_ADDRESS_MODE_REPEAT) N(VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT)
    N(VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER)
    N(VK_COMPARE_OP_NEVER) N(VK_COMPARE_OP_LESS) N(VK_COMPARE_OP_EQUAL) N(VK_COMPARE_OP_LESS_OR_EQUAL) N(VK_COMPARE_OP_GREATER)
    N(VK_COMPARE_OP_NOT_EQUAL) N(VK_COMPARE_OP_GREATER_OR_EQUAL) N(VK_COMPARE_OP_ALWAYS)
    N(VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK) N(VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK) N(VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE)
    N(VK_SHADER_STAGE_VERTEX_BIT) N(VK_SHADER_STAGE_FRAGMENT_BIT) N(VK_SHADER_STAGE_COMPUTE_BIT)
    N(VK_SHADER_STAGE_MESH_BIT_EXT) N(VK_SHADER_STAGE_TASK_BIT_EXT)
    N(VK_DESCRIPTOR_TYPE_SAMPLER) N(VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE) N(VK_DESCRIPTOR_TYPE_STORAGE_IMAGE)
    N(VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER) N(VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER) N(VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER)
    N(VK_DESCRIPTOR_TYPE_STORAGE_BUFFER) N(VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR)
    N(VK_VERTEX_INPUT_RATE_VERTEX) N(VK_VERTEX_INPUT_RATE_INSTANCE) N(VK_INDEX_TYPE_UINT16) N(VK_INDEX_TYPE_UINT32)
    N(VK_PRIMITIVE_TOPOLOGY_POINT_LIST) N(VK_PRIMITIVE_TOPOLOGY_LINE_LIST) N(VK_PRIMITIVE_TOPOLOGY_LINE_STRIP)
    N(VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST) N(VK_PRIMITIVE_TOPOLOGY_TRIANGLE_STRIP)
    N(VK_CULL_MODE_NONE) N(VK_CULL_MODE_FRONT_BIT) N(VK_CULL_MODE_BACK_BIT) N(VK_FRONT_FACE_CLOCKWISE) N(VK_FRONT_FACE_COUNTER_CLOCKWISE)
    F(R8_UNORM) F(R8_SNORM) F(R8_UINT) F(R8_SINT) F(R16_UINT) F(R16_SINT) F(R16_UNORM) F(R16_SNORM) F(R16_SFLOAT) F(R8G8_UNORM)
    F(R8G8_SNORM) F(R8G8_UINT) F(R8G8_SINT) F(R32_UINT) F(R32_SINT) F(R32_SFLOAT) F(R16G16_UINT) F(R16G16_SINT) F(R16G16_UNORM)
    F(R16G16_SNORM) F(R16G16_SFLOAT) F(R8G8B8A8_UNORM) F(R8G8B8A8_SRGB) F(R8G8B8A8_SNORM) F(R8G8B8A8_UINT) F(R8G8B8A8_SINT)
    F(B8G8R8A8_UNORM) F(B8G8R8A8_SRGB) F(E5B9G9R9_UFLOAT_PACK32) F(A2B10G10R10_UINT_PACK32) F(A2B10G10R10_UNORM_PACK32)
    F(B10G11R11_UFLOAT_PACK32) F(R64_UINT) F(R32G32_UINT) F(R32G32_SINT) F(R32G32_SFLOAT) F(R32G32B32_UINT) F(R32G32B32_SINT)
    F(R32G32B32_SFLOAT) F(R16G16B16A16_UINT) F(R16G16B16A16_SINT) F(R16G16B16A16_UNORM) F(R16G16B16A16_SNORM) F(R16G16B16A16_SFLOAT)
    F(R32G32B32A32_UINT) F(R32G32B32A32_SINT) F(R32G32B32A32_SFLOAT) F(D16_UNORM) F(D32_SFLOAT)
#undef F
#undef N
};
static int named(void) {
    text();
    if (!strcmp(word, "-")) return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(word, names[i].name)) return names[i].value;
    fail(1, "no such name", word);
    return 0;
}

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(1, "cannot read", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 4);
    if (fread(bytes, 1, *size, file) != *size) fail(1, "cannot read", path);
    fclose(file);
    return bytes;
}

/* ---- The device ---- */

static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandPool pool;
static int has_meshes, has_rays;

/* Extensions that are enabled where the device has them, and with which structure of features, if any. */
static VkPhysicalDeviceRobustness2FeaturesEXT robustness = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT};
static VkPhysicalDeviceMeshShaderFeaturesEXT meshes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT};
static VkPhysicalDeviceRayQueryFeaturesKHR ray_queries = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_QUERY_FEATURES_KHR};
static VkPhysicalDeviceAccelerationStructureFeaturesKHR scenes = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR};
static VkPhysicalDeviceShaderAtomicFloatFeaturesEXT float_atomics = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
static VkPhysicalDeviceFragmentShaderInterlockFeaturesEXT interlock = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FRAGMENT_SHADER_INTERLOCK_FEATURES_EXT};
/* The extension became Khronos's without a change; older headers have its first name alone. */
static VkPhysicalDeviceComputeShaderDerivativesFeaturesNV derivatives = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COMPUTE_SHADER_DERIVATIVES_FEATURES_NV};
static struct { const char *name; void *features; } extensions[] = {
    {VK_EXT_ROBUSTNESS_2_EXTENSION_NAME, &robustness},
    {VK_EXT_MESH_SHADER_EXTENSION_NAME, &meshes},
    {VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME, NULL},
    {VK_KHR_ACCELERATION_STRUCTURE_EXTENSION_NAME, &scenes},
    {VK_KHR_RAY_QUERY_EXTENSION_NAME, &ray_queries},
    {VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, &float_atomics},
    {VK_EXT_FRAGMENT_SHADER_INTERLOCK_EXTENSION_NAME, &interlock},
    {"VK_KHR_compute_shader_derivatives", &derivatives},
    {VK_EXT_SHADER_VIEWPORT_INDEX_LAYER_EXTENSION_NAME, NULL},
    {VK_GOOGLE_HLSL_FUNCTIONALITY_1_EXTENSION_NAME, NULL},
    {VK_GOOGLE_USER_TYPE_EXTENSION_NAME, NULL},
};
enum { EXTENSIONS = sizeof extensions / sizeof *extensions };

static void open_device(void) {
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_3};
    VkInstanceCreateInfo instance_info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    VkInstance instance;
    VK(vkCreateInstance(&instance_info, NULL, &instance));
    uint32_t count = 1;
    VK(vkEnumeratePhysicalDevices(instance, &count, &physical));
    if (!count) fail(2, "no Vulkan device", NULL);

    VkPhysicalDeviceVulkan13Features f13 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceVulkan12Features f12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &f13};
    VkPhysicalDeviceVulkan11Features f11 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &f12};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &f11};
    uint32_t known_count = 0;
    VK(vkEnumerateDeviceExtensionProperties(physical, NULL, &known_count, NULL));
    VkExtensionProperties *known = calloc(known_count, sizeof *known);
    VK(vkEnumerateDeviceExtensionProperties(physical, NULL, &known_count, known));
    const char *enabled[EXTENSIONS];
    uint32_t enabled_count = 0;
    for (int i = 0; i < EXTENSIONS; i++)
        for (uint32_t k = 0; k < known_count; k++)
            if (!strcmp(known[k].extensionName, extensions[i].name)) {
                enabled[enabled_count++] = extensions[i].name;
                VkBaseOutStructure *structure = extensions[i].features;
                if (structure) structure->pNext = (VkBaseOutStructure *)features.pNext, features.pNext = structure;
            }
    vkGetPhysicalDeviceFeatures2(physical, &features);
    has_meshes = meshes.meshShader, has_rays = ray_queries.rayQuery;
    /* They need features that no job uses. */
    meshes.multiviewMeshShader = meshes.primitiveFragmentShadingRateMeshShader = VK_FALSE;

    VkQueueFamilyProperties families[16];
    count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    uint32_t family = 0;
    while (family < count && (~families[family].queueFlags & (VK_QUEUE_COMPUTE_BIT | VK_QUEUE_GRAPHICS_BIT))) family++;
    if (family == count) fail(2, "no queue for both compute and graphics", NULL);
    float priority = 1;
    VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = family,
                                          .queueCount = 1, .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, .pNext = &features, .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue_info, .enabledExtensionCount = enabled_count, .ppEnabledExtensionNames = enabled};
    VK(vkCreateDevice(physical, &info, NULL, &device));
    vkGetDeviceQueue(device, family, 0, &queue);
    VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO, .queueFamilyIndex = family};
    VK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
}

static VkDeviceMemory allocate(VkMemoryRequirements needs, VkMemoryPropertyFlags wanted) {
    VkPhysicalDeviceMemoryProperties memories;
    vkGetPhysicalDeviceMemoryProperties(physical, &memories);
    for (uint32_t i = 0; i < memories.memoryTypeCount; i++)
        if ((needs.memoryTypeBits >> i & 1) && !(~memories.memoryTypes[i].propertyFlags & wanted)) {
            VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
            VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = has_rays ? &flags : NULL,
                                         .allocationSize = needs.size, .memoryTypeIndex = i};
            VkDeviceMemory memory;
            VK(vkAllocateMemory(device, &info, NULL, &memory));
            return memory;
        }
    fail(1, "no memory of that kind", NULL);
    return VK_NULL_HANDLE;
}

static VkCommandBuffer begin(void) {
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, .commandPool = pool, .commandBufferCount = 1};
    VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    VK(vkAllocateCommandBuffers(device, &info, &commands));
    VK(vkBeginCommandBuffer(commands, &start));
    return commands;
}
static void finish(VkCommandBuffer commands) {
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    VK(vkEndCommandBuffer(commands));
    VK(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(queue));
}

/* ---- Resources ---- */

typedef struct { VkBuffer buffer; void *bytes; size_t size; } Buffer;
typedef struct {
    VkImage image;
    VkFormat format;
    VkImageAspectFlags aspect;
    uint32_t width, height, depth, layers, mips, samples, texel;
} Image;
static struct { Buffer buffer; Image image; VkSampler sampler; VkAccelerationStructureKHR scene; } resources[RESOURCES];
static int resource_count;

static Buffer new_buffer(size_t size) {
    Buffer it = {.size = size ? size : 4};
    VkBufferUsageFlags usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                               VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT;
    if (has_rays)
        usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_STORAGE_BIT_KHR |
                 VK_BUFFER_USAGE_ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_BIT_KHR;
    VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = it.size, .usage = usage};
    VK(vkCreateBuffer(device, &info, NULL, &it.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, it.buffer, &needs);
    VkDeviceMemory memory = allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    VK(vkBindBufferMemory(device, it.buffer, memory, 0));
    VK(vkMapMemory(device, memory, 0, VK_WHOLE_SIZE, 0, &it.bytes));
    memset(it.bytes, 0, it.size);
    return it;
}

static void fill(Buffer *it, const char *path) {
    if (!strcmp(path, "-")) return;
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    if (size > it->size) fail(1, "more bytes than the resource has", path);
    memcpy(it->bytes, bytes, size);
    free(bytes);
}

static uint32_t bytes_of(VkFormat format) {
    switch (format) {
    case VK_FORMAT_R8_UNORM: case VK_FORMAT_R8_SNORM: case VK_FORMAT_R8_UINT: case VK_FORMAT_R8_SINT: return 1;
    case VK_FORMAT_R16_UINT: case VK_FORMAT_R16_SINT: case VK_FORMAT_R16_UNORM: case VK_FORMAT_R16_SNORM: case VK_FORMAT_R16_SFLOAT:
    case VK_FORMAT_R8G8_UNORM: case VK_FORMAT_R8G8_SNORM: case VK_FORMAT_R8G8_UINT: case VK_FORMAT_R8G8_SINT: case VK_FORMAT_D16_UNORM: return 2;
    case VK_FORMAT_R64_UINT: case VK_FORMAT_R32G32_UINT: case VK_FORMAT_R32G32_SINT: case VK_FORMAT_R32G32_SFLOAT:
    case VK_FORMAT_R16G16B16A16_UINT: case VK_FORMAT_R16G16B16A16_SINT: case VK_FORMAT_R16G16B16A16_UNORM:
    case VK_FORMAT_R16G16B16A16_SNORM: case VK_FORMAT_R16G16B16A16_SFLOAT: return 8;
    case VK_FORMAT_R32G32B32A32_UINT: case VK_FORMAT_R32G32B32A32_SINT: case VK_FORMAT_R32G32B32A32_SFLOAT: return 16;
    default: return 4;
    }
}
static uint32_t at_mip(uint32_t size, uint32_t mip) { return size >> mip ? size >> mip : 1; }
static size_t image_bytes(const Image *it) {
    size_t size = 0;
    for (uint32_t mip = 0; mip < it->mips; mip++)
        size += (size_t)at_mip(it->width, mip) * at_mip(it->height, mip) * at_mip(it->depth, mip) * it->texel;
    return size * it->layers;
}
static void copy_image(VkCommandBuffer commands, const Image *it, VkBuffer buffer, int to_image) {
    VkDeviceSize offset = 0;
    for (uint32_t layer = 0; layer < it->layers; layer++)
        for (uint32_t mip = 0; mip < it->mips; mip++) {
            VkExtent3D size = {at_mip(it->width, mip), at_mip(it->height, mip), at_mip(it->depth, mip)};
            VkBufferImageCopy copy = {.bufferOffset = offset, .imageSubresource = {it->aspect, mip, layer, 1}, .imageExtent = size};
            if (to_image) vkCmdCopyBufferToImage(commands, buffer, it->image, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
            else vkCmdCopyImageToBuffer(commands, it->image, VK_IMAGE_LAYOUT_GENERAL, buffer, 1, &copy);
            offset += (VkDeviceSize)size.width * size.height * size.depth * it->texel;
        }
}
static void barrier(VkCommandBuffer commands, const Image *image, VkImageLayout from) {
    VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                           .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
    VkImageMemoryBarrier one = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER, .srcAccessMask = all.srcAccessMask,
                                .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT, .oldLayout = from,
                                .newLayout = VK_IMAGE_LAYOUT_GENERAL, .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED};
    if (image) one.image = image->image, one.subresourceRange = (VkImageSubresourceRange){image->aspect, 0, image->mips, 0, image->layers};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0,
                         1, &all, 0, NULL, image ? 1 : 0, &one);
}

static Image new_image(void) {
    VkImageType type = named();
    Image it = {.format = named()};
    it.aspect = named();
    it.width = number(), it.height = number(), it.depth = number(), it.layers = number(), it.mips = number(), it.samples = number();
    it.texel = bytes_of(it.format);
    VkFormatProperties properties;
    vkGetPhysicalDeviceFormatProperties(physical, it.format, &properties);
    VkFormatFeatureFlags can = properties.optimalTilingFeatures;
    VkImageUsageFlags usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    if (can & VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT) usage |= VK_IMAGE_USAGE_SAMPLED_BIT;
    if (can & VK_FORMAT_FEATURE_STORAGE_IMAGE_BIT && it.samples == 1) usage |= VK_IMAGE_USAGE_STORAGE_BIT;
    if (can & VK_FORMAT_FEATURE_COLOR_ATTACHMENT_BIT) usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    if (can & VK_FORMAT_FEATURE_DEPTH_STENCIL_ATTACHMENT_BIT) usage |= VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT;
    VkImageCreateFlags flags = it.aspect == VK_IMAGE_ASPECT_COLOR_BIT ? VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT : 0;
    if (type == VK_IMAGE_TYPE_2D && it.width == it.height && it.layers >= 6 && it.samples == 1) flags |= VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT;
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO, .flags = flags, .imageType = type, .format = it.format,
                              .extent = {it.width, it.height, it.depth}, .mipLevels = it.mips, .arrayLayers = it.layers,
                              .samples = (VkSampleCountFlagBits)it.samples, .usage = usage};
    VK(vkCreateImage(device, &info, NULL, &it.image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, it.image, &needs);
    VK(vkBindImageMemory(device, it.image, allocate(needs, 0), 0));
    VkCommandBuffer commands = begin();
    barrier(commands, &it, VK_IMAGE_LAYOUT_UNDEFINED);
    VkImageSubresourceRange all = {it.aspect, 0, it.mips, 0, it.layers};
    if (it.samples == 1) {
        Buffer staging = new_buffer(image_bytes(&it));
        fill(&staging, text());
        copy_image(commands, &it, staging.buffer, 1);
    } else {
        if (strcmp(text(), "-")) fail(1, "texels of several samples", word);
        VkClearColorValue color = {.uint32 = {0, 0, 0, 0}};
        VkClearDepthStencilValue depth = {0, 0};
        if (it.aspect == VK_IMAGE_ASPECT_COLOR_BIT) vkCmdClearColorImage(commands, it.image, VK_IMAGE_LAYOUT_GENERAL, &color, 1, &all);
        else vkCmdClearDepthStencilImage(commands, it.image, VK_IMAGE_LAYOUT_GENERAL, &depth, 1, &all);
    }
    barrier(commands, NULL, VK_IMAGE_LAYOUT_GENERAL);
    finish(commands);
    return it;
}

static VkImageView new_view(const Image *it, VkImageViewType type, VkFormat format, VkImageSubresourceRange range) {
    VkImageViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO, .image = it->image, .viewType = type,
                                  .format = format, .subresourceRange = range};
    VkImageView view;
    VK(vkCreateImageView(device, &info, NULL, &view));
    return view;
}

static VkSampler new_sampler(void) {
    VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};
    info.minFilter = named(), info.magFilter = named(), info.mipmapMode = named();
    info.addressModeU = named(), info.addressModeV = named(), info.addressModeW = named();
    int compare = named();
    if (compare >= 0) info.compareEnable = VK_TRUE, info.compareOp = compare;
    info.minLod = real(), info.maxLod = real();
    info.borderColor = named();
    info.maxAnisotropy = real(), info.anisotropyEnable = info.maxAnisotropy > 1;
    VkSampler sampler;
    VK(vkCreateSampler(device, &info, NULL, &sampler));
    return sampler;
}

/* ---- Acceleration structures ---- */

#define PROCEDURE(name) PFN_##name name = (PFN_##name)vkGetDeviceProcAddr(device, #name)
static VkDeviceAddress address_of(VkBuffer buffer) {
    VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer};
    return vkGetBufferDeviceAddress(device, &info);
}

static VkAccelerationStructureKHR build(VkAccelerationStructureTypeKHR type, uint32_t count, const VkAccelerationStructureGeometryKHR *geometries,
                                        const uint32_t *primitives) {
    PROCEDURE(vkGetAccelerationStructureBuildSizesKHR);
    PROCEDURE(vkCreateAccelerationStructureKHR);
    PROCEDURE(vkCmdBuildAccelerationStructuresKHR);
    VkAccelerationStructureBuildGeometryInfoKHR info = {.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR, .type = type,
                                                        .geometryCount = count, .pGeometries = geometries};
    VkAccelerationStructureBuildSizesInfoKHR sizes = {.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_SIZES_INFO_KHR};
    vkGetAccelerationStructureBuildSizesKHR(device, VK_ACCELERATION_STRUCTURE_BUILD_TYPE_DEVICE_KHR, &info, primitives, &sizes);
    VkAccelerationStructureCreateInfoKHR create = {.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_CREATE_INFO_KHR, .type = type,
                                                   .buffer = new_buffer(sizes.accelerationStructureSize).buffer, .size = sizes.accelerationStructureSize};
    VK(vkCreateAccelerationStructureKHR(device, &create, NULL, &info.dstAccelerationStructure));
    /* Scratch memory wants an alignment of up to 256. */
    info.scratchData.deviceAddress = (address_of(new_buffer(sizes.buildScratchSize + 256).buffer) + 255) & ~(VkDeviceAddress)255;
    VkAccelerationStructureBuildRangeInfoKHR ranges[RESOURCES] = {0};
    for (uint32_t i = 0; i < count; i++) ranges[i].primitiveCount = primitives[i];
    const VkAccelerationStructureBuildRangeInfoKHR *range = ranges;
    VkCommandBuffer commands = begin();
    vkCmdBuildAccelerationStructuresKHR(commands, 1, &info, &range);
    barrier(commands, NULL, VK_IMAGE_LAYOUT_GENERAL);
    finish(commands);
    return info.dstAccelerationStructure;
}

static Buffer *buffer_at(long long index) {
    if (index < 0 || index >= resource_count || !resources[index].buffer.buffer) fail(1, "no such buffer", word);
    return &resources[index].buffer;
}

static VkAccelerationStructureKHR new_scene(void) {
    if (!has_rays) fail(2, "the device has no ray queries", NULL);
    PROCEDURE(vkGetAccelerationStructureDeviceAddressKHR);
    uint32_t count = number();
    Buffer instances = new_buffer(count * sizeof(VkAccelerationStructureInstanceKHR));
    for (uint32_t i = 0; i < count; i++) {
        VkAccelerationStructureInstanceKHR instance = {0};
        VkAccelerationStructureGeometryKHR geometries[RESOURCES] = {0};
        uint32_t geometry_count = number(), primitives[RESOURCES];
        if (geometry_count > RESOURCES) fail(1, "too many geometries", NULL);
        for (int k = 0; k < 12; k++) instance.transform.matrix[k / 4][k % 4] = real();
        instance.instanceCustomIndex = number(), instance.mask = number();
        for (uint32_t k = 0; k < geometry_count; k++) {
            Buffer *vertices = buffer_at(number());
            primitives[k] = number();
            int opaque = number(), index_type = named();
            long long indices = number();
            VkAccelerationStructureGeometryTrianglesDataKHR triangles = {
                .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_TRIANGLES_DATA_KHR, .vertexFormat = VK_FORMAT_R32G32B32_SFLOAT,
                .vertexData.deviceAddress = address_of(vertices->buffer), .vertexStride = 12, .maxVertex = (uint32_t)(vertices->size / 12 - 1),
                .indexType = index_type < 0 ? VK_INDEX_TYPE_NONE_KHR : (VkIndexType)index_type};
            if (index_type >= 0) triangles.indexData.deviceAddress = address_of(buffer_at(indices)->buffer);
            geometries[k] = (VkAccelerationStructureGeometryKHR){.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR,
                .geometryType = VK_GEOMETRY_TYPE_TRIANGLES_KHR, .geometry.triangles = triangles, .flags = opaque ? VK_GEOMETRY_OPAQUE_BIT_KHR : 0};
        }
        VkAccelerationStructureDeviceAddressInfoKHR info = {.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_DEVICE_ADDRESS_INFO_KHR,
            .accelerationStructure = build(VK_ACCELERATION_STRUCTURE_TYPE_BOTTOM_LEVEL_KHR, geometry_count, geometries, primitives)};
        instance.accelerationStructureReference = vkGetAccelerationStructureDeviceAddressKHR(device, &info);
        ((VkAccelerationStructureInstanceKHR *)instances.bytes)[i] = instance;
    }
    VkAccelerationStructureGeometryKHR geometry = {.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_KHR, .geometryType = VK_GEOMETRY_TYPE_INSTANCES_KHR};
    geometry.geometry.instances = (VkAccelerationStructureGeometryInstancesDataKHR){
        .sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_GEOMETRY_INSTANCES_DATA_KHR, .data.deviceAddress = address_of(instances.buffer)};
    return build(VK_ACCELERATION_STRUCTURE_TYPE_TOP_LEVEL_KHR, 1, &geometry, &count);
}

/* ---- Steps ---- */

static const Image *image_at(long long index) {
    if (index < 0 || index >= resource_count || !resources[index].image.image) fail(1, "no such image", word);
    return &resources[index].image;
}

typedef struct {
    VkPipelineShaderStageCreateInfo stages[STAGES];
    uint32_t stage_count, set_count, bound;
    struct { uint32_t set; VkWriteDescriptorSet write; uint32_t count; } bindings[BINDINGS];
    VkVertexInputBindingDescription inputs[INPUTS];
    VkVertexInputAttributeDescription attributes[INPUTS];
    VkBuffer vertices[INPUTS];
    uint32_t input_count, attribute_count;
    const Image *targets[TARGETS], *depth;
    VkRenderingAttachmentInfo colors[TARGETS], depth_attachment;
    uint32_t target_count, views;
    VkPipelineDepthStencilStateCreateInfo depth_state;
    VkPrimitiveTopology topology;
    VkPipelineRasterizationStateCreateInfo raster;
    VkViewport viewport;
} Step;

static void add_shader(Step *step) {
    if (step->stage_count == STAGES) fail(1, "too many shaders", NULL);
    VkShaderStageFlagBits stage = named();
    if (stage & (VK_SHADER_STAGE_MESH_BIT_EXT | VK_SHADER_STAGE_TASK_BIT_EXT) && !has_meshes) fail(2, "the device has no mesh shaders", NULL);
    size_t size;
    uint8_t *code = read_file(text(), &size);
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = (uint32_t *)code};
    VkShaderModule module;
    VK(vkCreateShaderModule(device, &info, NULL, &module));
    step->stages[step->stage_count++] = (VkPipelineShaderStageCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                                         .stage = stage, .module = module, .pName = strdup(text())};
}

static void add_binding(Step *step) {
    if (step->bound == BINDINGS) fail(1, "too many bindings", NULL);
    uint32_t set = number(), binding = number(), count = number(), element = number();
    VkDescriptorType type = named();
    long long index = number();
    if (set >= SETS || element >= count || index >= resource_count) fail(1, "no such place", word);
    if (set >= step->set_count) step->set_count = set + 1;
    VkDescriptorBufferInfo *buffer = calloc(1, sizeof *buffer);
    VkDescriptorImageInfo *image = calloc(1, sizeof *image);
    VkBufferView *texels = calloc(1, sizeof *texels);
    VkWriteDescriptorSetAccelerationStructureKHR *scene = calloc(1, sizeof *scene);
    int is_null = index < 0;
    switch (type) {
    case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER: case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
        *buffer = (VkDescriptorBufferInfo){VK_NULL_HANDLE, 0, VK_WHOLE_SIZE};
        if (!is_null) buffer->buffer = buffer_at(index)->buffer, buffer->offset = number(), buffer->range = number();
        break;
    case VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER: case VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER:
        if (!is_null) {
            VkBufferViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO, .buffer = buffer_at(index)->buffer};
            info.offset = number(), info.range = number(), info.format = named();
            VkFormatProperties properties;
            vkGetPhysicalDeviceFormatProperties(physical, info.format, &properties);
            VkFormatFeatureFlags needed = type == VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER ? VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT
                                                                                        : VK_FORMAT_FEATURE_STORAGE_TEXEL_BUFFER_BIT;
            if (!(properties.bufferFeatures & needed)) fail(2, "the device has no such texel buffers", word);
            VK(vkCreateBufferView(device, &info, NULL, texels));
        }
        break;
    case VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE: case VK_DESCRIPTOR_TYPE_STORAGE_IMAGE:
        image->imageLayout = VK_IMAGE_LAYOUT_GENERAL;
        if (!is_null) {
            VkImageViewType view = named();
            VkFormat format = named();
            VkImageSubresourceRange range = {.aspectMask = named()};
            range.baseMipLevel = number(), range.levelCount = number(), range.baseArrayLayer = number(), range.layerCount = number();
            image->imageView = new_view(image_at(index), view, format, range);
        }
        break;
    case VK_DESCRIPTOR_TYPE_SAMPLER:
        if (is_null) fail(1, "no sampler is bound", NULL);
        image->sampler = resources[index].sampler;
        break;
    case VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR:
        *scene = (VkWriteDescriptorSetAccelerationStructureKHR){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET_ACCELERATION_STRUCTURE_KHR,
                                                               .accelerationStructureCount = 1, .pAccelerationStructures = &resources[index].scene};
        break;
    default: fail(1, "no such descriptor", NULL);
    }
    if (is_null && type != VK_DESCRIPTOR_TYPE_SAMPLER && !robustness.nullDescriptor) fail(2, "the device has no null descriptors", NULL);
    step->bindings[step->bound].set = set, step->bindings[step->bound].count = count;
    step->bindings[step->bound++].write = (VkWriteDescriptorSet){
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .pNext = type == VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR ? scene : NULL,
        .dstBinding = binding, .dstArrayElement = element, .descriptorCount = 1, .descriptorType = type, .pImageInfo = image,
        .pBufferInfo = buffer, .pTexelBufferView = texels};
}

static VkPipelineLayout bind(Step *step, VkCommandBuffer commands, VkPipelineBindPoint point) {
    VkDescriptorSetLayout layouts[SETS];
    VkDescriptorPoolSize sizes[12];
    uint32_t size_count = 0;
    for (int type = 0; type <= VK_DESCRIPTOR_TYPE_STORAGE_BUFFER; type++) sizes[size_count++] = (VkDescriptorPoolSize){type, 4 * BINDINGS};
    if (has_rays) sizes[size_count++] = (VkDescriptorPoolSize){VK_DESCRIPTOR_TYPE_ACCELERATION_STRUCTURE_KHR, BINDINGS};
    VkDescriptorPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = SETS,
                                            .poolSizeCount = size_count, .pPoolSizes = sizes};
    VkDescriptorPool descriptors;
    VK(vkCreateDescriptorPool(device, &pool_info, NULL, &descriptors));
    for (uint32_t set = 0; set < step->set_count; set++) {
        VkDescriptorSetLayoutBinding bindings[BINDINGS];
        uint32_t count = 0;
        for (uint32_t i = 0; i < step->bound; i++) {
            if (step->bindings[i].set != set) continue;
            const VkWriteDescriptorSet *write = &step->bindings[i].write;
            uint32_t k = 0;
            while (k < count && bindings[k].binding != write->dstBinding) k++;
            if (k == count)
                bindings[count++] = (VkDescriptorSetLayoutBinding){write->dstBinding, write->descriptorType, step->bindings[i].count, VK_SHADER_STAGE_ALL, NULL};
            else if (bindings[k].descriptorType != write->descriptorType) fail(1, "two types at one binding", NULL);
        }
        VkDescriptorBindingFlags flags[BINDINGS];
        for (uint32_t k = 0; k < count; k++) flags[k] = bindings[k].descriptorCount > 1 ? VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT : 0;
        VkDescriptorSetLayoutBindingFlagsCreateInfo flags_info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO,
                                                                  .bindingCount = count, .pBindingFlags = flags};
        VkDescriptorSetLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .pNext = &flags_info,
                                                .bindingCount = count, .pBindings = bindings};
        VK(vkCreateDescriptorSetLayout(device, &info, NULL, &layouts[set]));
    }
    VkPipelineLayoutCreateInfo layout_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = step->set_count, .pSetLayouts = layouts};
    VkPipelineLayout layout;
    VK(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
    if (step->set_count) {
        VkDescriptorSet sets[SETS];
        VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, .descriptorPool = descriptors,
                                            .descriptorSetCount = step->set_count, .pSetLayouts = layouts};
        VK(vkAllocateDescriptorSets(device, &info, sets));
        for (uint32_t i = 0; i < step->bound; i++) {
            step->bindings[i].write.dstSet = sets[step->bindings[i].set];
            vkUpdateDescriptorSets(device, 1, &step->bindings[i].write, 0, NULL);
        }
        vkCmdBindDescriptorSets(commands, point, layout, 0, step->set_count, sets, 0, NULL);
    }
    return layout;
}

static void add_target(Step *step) {
    if (step->target_count == TARGETS) fail(1, "too many targets", NULL);
    VkRenderingAttachmentInfo *color = &step->colors[step->target_count];
    *color = (VkRenderingAttachmentInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO, .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                         .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    long long index = number();
    const Image *image = index < 0 ? NULL : image_at(index);
    VkFormat format = image ? image->format : VK_FORMAT_UNDEFINED;
    double clear[4];
    for (int k = 0; k < 4; k++) clear[k] = strtod(text(), NULL);
    for (int k = 0; k < 4; k++) {
        switch (format) {
        case VK_FORMAT_R8_UINT: case VK_FORMAT_R16_UINT: case VK_FORMAT_R32_UINT: case VK_FORMAT_R8G8B8A8_UINT: case VK_FORMAT_R16G16_UINT:
        case VK_FORMAT_R32G32_UINT: case VK_FORMAT_R16G16B16A16_UINT: case VK_FORMAT_R32G32B32A32_UINT: case VK_FORMAT_A2B10G10R10_UINT_PACK32:
            color->clearValue.color.uint32[k] = (uint32_t)clear[k];
            break;
        case VK_FORMAT_R8_SINT: case VK_FORMAT_R16_SINT: case VK_FORMAT_R32_SINT: case VK_FORMAT_R8G8B8A8_SINT: case VK_FORMAT_R16G16_SINT:
        case VK_FORMAT_R32G32_SINT: case VK_FORMAT_R16G16B16A16_SINT: case VK_FORMAT_R32G32B32A32_SINT:
            color->clearValue.color.int32[k] = (int32_t)clear[k];
            break;
        default: color->clearValue.color.float32[k] = (float)clear[k];
        }
    }
    step->targets[step->target_count++] = image;
}

static void add_depth(Step *step) {
    step->depth = image_at(number());
    step->depth_state.depthTestEnable = VK_TRUE;
    step->depth_state.depthCompareOp = named();
    step->depth_state.depthWriteEnable = number();
    step->depth_attachment = (VkRenderingAttachmentInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO, .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                                        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR, .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    step->depth_attachment.clearValue.depthStencil.depth = real();
}

static void add_raster(Step *step) {
    step->topology = named();
    step->raster = (VkPipelineRasterizationStateCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    step->raster.cullMode = named(), step->raster.frontFace = named();
    float x = real(), y = real(), width = real(), height = real(), near = real(), far = real();
    step->viewport = (VkViewport){x, y + height, width, -height, near, far};
    step->views = number();
}

static VkPipeline draw_pipeline(Step *step, VkPipelineLayout layout, VkExtent2D *size, uint32_t *view_mask) {
    VkFormat formats[TARGETS], depth_format = step->depth ? step->depth->format : VK_FORMAT_UNDEFINED;
    VkPipelineColorBlendAttachmentState blends[TARGETS];
    const Image *any = step->depth;
    *view_mask = step->views > 1 ? (1u << step->views) - 1 : 0;
    for (uint32_t i = 0; i < step->target_count; i++) {
        const Image *image = step->targets[i];
        blends[i] = (VkPipelineColorBlendAttachmentState){.colorWriteMask = 15};
        formats[i] = image ? image->format : VK_FORMAT_UNDEFINED;
        if (!image) continue;
        any = image;
        VkImageSubresourceRange range = {image->aspect, 0, 1, 0, step->views};
        step->colors[i].imageView = new_view(image, step->views > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D, image->format, range);
    }
    if (step->depth) {
        VkImageSubresourceRange range = {step->depth->aspect, 0, 1, 0, step->views};
        step->depth_attachment.imageView = new_view(step->depth, step->views > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D, step->depth->format, range);
    }
    *size = any ? (VkExtent2D){any->width, any->height}
                : (VkExtent2D){(uint32_t)(step->viewport.x + step->viewport.width), (uint32_t)step->viewport.y};
    VkPipelineVertexInputStateCreateInfo inputs = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = step->input_count, .pVertexBindingDescriptions = step->inputs,
        .vertexAttributeDescriptionCount = step->attribute_count, .pVertexAttributeDescriptions = step->attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, .topology = step->topology};
    VkRect2D scissor = {{0, 0}, *size};
    VkPipelineViewportStateCreateInfo viewport = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1,
                                                  .pViewports = &step->viewport, .scissorCount = 1, .pScissors = &scissor};
    VkPipelineMultisampleStateCreateInfo samples = {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                                    .rasterizationSamples = any ? (VkSampleCountFlagBits)any->samples : VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendStateCreateInfo blend = {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                                 .attachmentCount = step->target_count, .pAttachments = blends};
    step->depth_state.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
    VkPipelineRenderingCreateInfo rendering = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO, .viewMask = *view_mask,
                                               .colorAttachmentCount = step->target_count, .pColorAttachmentFormats = formats,
                                               .depthAttachmentFormat = depth_format};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO, .pNext = &rendering,
        .stageCount = step->stage_count, .pStages = step->stages, .pVertexInputState = &inputs, .pInputAssemblyState = &assembly,
        .pViewportState = &viewport, .pRasterizationState = &step->raster, .pMultisampleState = &samples,
        .pDepthStencilState = &step->depth_state, .pColorBlendState = &blend, .layout = layout};
    VkPipeline pipeline;
    VK(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    return pipeline;
}

/* Reads a step up to the command that ends it, and carries it out. */
static void run_step(void) {
    Step *step = calloc(1, sizeof *step);
    enum { NONE, DISPATCH, MESHES, DRAW } command = NONE;
    while (command == NONE) {
        text();
        if (!strcmp(word, "shader")) add_shader(step);
        else if (!strcmp(word, "bind")) add_binding(step);
        else if (!strcmp(word, "target")) add_target(step);
        else if (!strcmp(word, "depth")) add_depth(step);
        else if (!strcmp(word, "raster")) add_raster(step);
        else if (!strcmp(word, "vertices")) {
            if (step->input_count == INPUTS) fail(1, "too many vertex buffers", NULL);
            VkVertexInputBindingDescription *input = &step->inputs[step->input_count];
            input->binding = number();
            step->vertices[step->input_count++] = buffer_at(number())->buffer;
            input->stride = number(), input->inputRate = named();
        } else if (!strcmp(word, "attribute")) {
            if (step->attribute_count == INPUTS) fail(1, "too many attributes", NULL);
            VkVertexInputAttributeDescription *attribute = &step->attributes[step->attribute_count++];
            attribute->location = number(), attribute->binding = number(), attribute->format = named(), attribute->offset = number();
        } else if (!strcmp(word, "dispatch")) command = DISPATCH;
        else if (!strcmp(word, "meshes")) command = MESHES;
        else if (!strcmp(word, "draw")) command = DRAW;
        else fail(1, "no such line in a step", word);
    }
    VkCommandBuffer commands = begin();
    VkPipelineBindPoint point = command == DISPATCH ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS;
    VkPipelineLayout layout = bind(step, commands, point);
    if (command == DISPATCH) {
        VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout, .stage = step->stages[0]};
        VkPipeline pipeline;
        VK(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
        vkCmdBindPipeline(commands, point, pipeline);
        uint32_t x = number(), y = number(), z = number();
        vkCmdDispatch(commands, x, y, z);
    } else {
        VkExtent2D size;
        uint32_t view_mask;
        vkCmdBindPipeline(commands, point, draw_pipeline(step, layout, &size, &view_mask));
        VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO, .renderArea = {{0, 0}, size}, .layerCount = 1, .viewMask = view_mask,
                                .colorAttachmentCount = step->target_count, .pColorAttachments = step->colors,
                                .pDepthAttachment = step->depth ? &step->depth_attachment : NULL};
        if (command == MESHES) {
            PROCEDURE(vkCmdDrawMeshTasksEXT);
            uint32_t x = number(), y = number(), z = number();
            vkCmdBeginRendering(commands, &info);
            vkCmdDrawMeshTasksEXT(commands, x, y, z);
        } else {
            uint32_t count = number(), instances = number(), first = number(), first_instance = number();
            int index_type = named();
            long long indices = number();
            VkDeviceSize offsets[INPUTS] = {0};
            if (step->input_count) vkCmdBindVertexBuffers(commands, 0, step->input_count, step->vertices, offsets);
            if (index_type >= 0) vkCmdBindIndexBuffer(commands, buffer_at(indices)->buffer, 0, index_type);
            vkCmdBeginRendering(commands, &info);
            if (index_type >= 0) vkCmdDrawIndexed(commands, count, instances, 0, (int32_t)first, first_instance);
            else vkCmdDraw(commands, count, instances, first, first_instance);
        }
        vkCmdEndRendering(commands);
    }
    barrier(commands, NULL, VK_IMAGE_LAYOUT_GENERAL);
    finish(commands);
}

static void keep(void) {
    long long index = number();
    Buffer buffer;
    if (index >= 0 && index < resource_count && resources[index].image.image) {
        const Image *image = image_at(index);
        buffer = new_buffer(image_bytes(image));
        VkCommandBuffer commands = begin();
        copy_image(commands, image, buffer.buffer, 0);
        barrier(commands, NULL, VK_IMAGE_LAYOUT_GENERAL);
        finish(commands);
    } else buffer = *buffer_at(index);
    FILE *file = fopen(text(), "wb");
    if (!file || fwrite(buffer.bytes, 1, buffer.size, file) != buffer.size || fclose(file)) fail(1, "cannot write", word);
}

int main(int argc, char **argv) {
    if (argc != 2 || !(job = fopen(argv[1], "r"))) fail(1, "usage: runner JOB", NULL);
    open_device();
    while (next_word()) {
        if (resource_count == RESOURCES) fail(1, "too many resources", NULL);
        if (!strcmp(word, "buffer")) {
            Buffer it = new_buffer(number());
            fill(&it, text());
            resources[resource_count++].buffer = it;
        } else if (!strcmp(word, "image")) {
            Image it = new_image();
            resources[resource_count++].image = it;
        } else if (!strcmp(word, "sampler")) {
            VkSampler it = new_sampler();
            resources[resource_count++].sampler = it;
        } else if (!strcmp(word, "scene")) {
            VkAccelerationStructureKHR it = new_scene();
            resources[resource_count++].scene = it;
        } else if (!strcmp(word, "step")) run_step();
        else if (!strcmp(word, "keep")) keep();
        else fail(1, "no such line", word);
    }
    fflush(stdout);
    _Exit(0); /* The process takes everything down with it. */
}
